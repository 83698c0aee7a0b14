"""What is meant where nothing is said; without an import, so that the command line can tell at once."""

from __future__ import annotations

DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "precision@10", "recall@100")
"""What is computed if no metric is named."""
