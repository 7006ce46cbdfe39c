"""The commands tessera and tessera-opt: parse arguments, call, print."""
