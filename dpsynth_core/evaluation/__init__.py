"""What can be said about a release: errors, and the truth for the curator's eyes only."""
