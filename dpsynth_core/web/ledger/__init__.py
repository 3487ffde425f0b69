"""The views of the Ledger page."""
