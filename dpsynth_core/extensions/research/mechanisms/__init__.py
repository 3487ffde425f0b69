"""The wing's mechanisms: games, rules, weights and projections."""
