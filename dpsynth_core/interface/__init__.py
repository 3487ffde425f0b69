"""The interface for Python programs: plan (free), run (spends, once), release (free). `dpsynth_core` exports the public parts.

This room is thin: other rooms define plans, runs and releases. Here frames come in and go out, and output for terminals and notebooks is
worded. A `repr` here never contains a path or a fact about records.
"""
