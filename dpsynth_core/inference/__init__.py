"""Models fitted to noisy answers, and rows drawn from them."""
