"""dpsynth_core: synthetic tables under differential privacy. See ARCHITECTURE.md for the map of its rooms."""
