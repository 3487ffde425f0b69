"""The views of the Workload page."""
