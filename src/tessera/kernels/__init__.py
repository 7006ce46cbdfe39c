"""One file per fused kernel: its meaning, its demands, its plan, its emitters."""
