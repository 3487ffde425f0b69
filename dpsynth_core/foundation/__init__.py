"""The foundation: what every room needs, such as errors, zones, private files and processes with limits."""
