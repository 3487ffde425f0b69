"""Measurements that anyone can repeat. They look at true counts without noise, which is right for public tables only.

They compute as the command line does: with one thread for linear algebra, and in memory that is kept.
"""

from dpsynth_core.foundation import allocation, threads

threads.limit()  # before NumPy is loaded
allocation.keep_freed_memory()
