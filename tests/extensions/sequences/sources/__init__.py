"""Tables that tests of all sources go through."""
