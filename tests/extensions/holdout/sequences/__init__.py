"""People left out beside rows of a person in order."""
