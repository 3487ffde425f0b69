"""What is free among the extension's operations, and an event that no question asks for. For `tests/privacy/test_prices.py`."""

from dpsynth_core.extensions.research.privacy.events import PerturbedMinimum

FREE = {"mixture_l1"}
STRANGERS = [PerturbedMinimum(1e3, 1.0)]
