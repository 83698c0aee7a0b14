"""How frames of each kind are asked for metrics."""
