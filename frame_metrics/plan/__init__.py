"""From a long table to results: plans that stay lazy from end to end."""
