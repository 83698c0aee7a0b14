"""The metrics that take any table; the others need one with subtopics, and have tests of their own."""

import frame_metrics as fm

PLAIN = [definition.name for definition in fm.metrics.definitions() if not definition.of_subtopics]
