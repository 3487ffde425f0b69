"""dpsynth_core: synthetic tables under differential privacy. See ARCHITECTURE.md for the map of its rooms."""

__version__ = "0.1.0"
