"""How exact the numbers are: every measure that was stored from tools that others trust, compared with ours.

`python -m tests.trusted` compares and prints a table.
"""
