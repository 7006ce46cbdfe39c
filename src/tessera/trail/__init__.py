"""The trail: how a site came to its decision, from the model's own ops to the call."""
