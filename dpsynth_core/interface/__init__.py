"""The interface for Python programs: plan (spends nothing), run (spends once), release (costs nothing).

`dpsynth_core` names the public parts.

This room is thin: other rooms decide what a plan means, what a run does and what a release knows. This room reads and returns frames, and
words the output for terminals and notebooks. No `repr` here shows a path or depends on records.
"""
