"""Plans that do not go with values that are learnt. For `tests/planning/test_discovery.py`."""

REFUSED = [({"mechanism": {"name": "oraclequery"}, "unit": {"relation": "replace"}}, "needs to know them")]
