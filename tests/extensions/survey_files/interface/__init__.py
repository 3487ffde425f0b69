"""Survey files as Python programs name them."""
