"""What a Python program calls: plan (free), run (spends, once), release (free for ever). `dpsynth_core` names the public parts.

Thin: what a plan means, what a run does and what a release knows is decided in other rooms. Here frames come in and go out, and what is
said on a terminal or in a notebook is worded. No `repr` here names a path or says anything of records.
"""
