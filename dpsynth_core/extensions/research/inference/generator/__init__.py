"""GEM's generator network and its training."""
