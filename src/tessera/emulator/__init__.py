"""Runs Metal source on any host, strictly, for tests and by request."""
