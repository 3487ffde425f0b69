"""Measurements that anyone can repeat. They look at true counts without noise, which is right for public tables only.

They compute as the command line does: with one thread for linear algebra, and in memory that is kept.
"""

import sys

from dpsynth_core.foundation import allocation, threads

if sys.orig_argv[1:2] == ["-m"] and sys.orig_argv[2].startswith("benchmarks."):
    raise SystemExit(f"write: python -m {sys.orig_argv[2].replace('.', ' ')}")  # a module alone runs nothing

threads.limit()  # before NumPy is loaded
allocation.keep_freed_memory()
