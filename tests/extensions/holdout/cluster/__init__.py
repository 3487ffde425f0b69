"""People who are left out where a cluster counts."""
