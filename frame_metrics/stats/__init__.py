"""Statistics of numbers that queries have: intervals, paired tests, corrections, comparisons.

What takes time is done in numpy, over blocks of resamples of bounded size. Only the distributions come from scipy,
which is imported where it is used.
"""
