"""The release bundle: one ZIP that says everything about a release, and what a recipient does with it.

`pack` makes it, `unpack` reads one that may be hostile, `verify` checks every number that can be checked without the private table,
`reproduce` runs the mechanism again on the published answers. Public and released values only.
"""
