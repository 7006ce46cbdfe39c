"""How each foreign op is spelled in the vocabulary of the graph, by family."""
