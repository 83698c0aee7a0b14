"""Plans."""
from frame_metrics.plan.failing import failing, raising, told
