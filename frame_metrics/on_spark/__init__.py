"""Metrics of Spark frames: what the driver does, and what executors do. `frame_metrics.spark` is for users."""
