"""Reports: what the metrics of a table say, for people and for machines."""
