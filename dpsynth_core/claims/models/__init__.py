"""Models trained on released rows, and how often they are right about the people."""
