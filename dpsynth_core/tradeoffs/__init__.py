"""Trade-offs: the same plan with several mechanisms and budgets, tried on a table, and the errors that resulted.

On a table that is simulated or public, the errors are exact and free. On the private table every
trial is charged, and its exact errors are curator-only. No row of a trial is ever kept, so none can
be released.
"""
