"""How fast the package is, against a bare `group_by` and against other packages.

    python -m tests.benchmark                                   every case and every peer: 15 minutes, 2 GB of files
    python -m tests.benchmark --quick                           the same on little data: a minute
    python -m tests.benchmark --rows 10000000 --only nine       some cases only
    python -m tests.benchmark --big 0 --peers none              no large file, no peers
    python -m tests.benchmark --out result.json --chart benchmark.svg

Run it from the root of the repository. A peer that is not installed is shown as that. Every number is the smallest of
several, taken in turns with what it is compared with, so that a busy machine slows both. Ratios are of CPU time, which
a busy machine changes least; `--clock wall` takes the time that passed, and the table shows both.
"""
