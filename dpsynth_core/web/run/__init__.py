"""The start of runs, and runs on screen."""
