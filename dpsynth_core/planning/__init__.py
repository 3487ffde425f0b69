"""Planning: the spec, and what it means before a run, such as budget, feasibility and recommendations."""
