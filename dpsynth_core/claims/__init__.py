"""Claims: what is measured about a release after its mechanism, on shares of the budget of their own. `registry` lists them."""
