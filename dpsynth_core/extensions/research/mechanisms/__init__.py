"""The extension's mechanisms: games, rules, weights and projections."""
