"""The research wing: mechanisms with operations, oracles and audits of their own."""
