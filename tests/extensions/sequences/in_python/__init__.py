"""The code of a plan with rows in order."""
