from dpsynth_core.foundation.errors import CapacityError, ChargedError, InputError
from dpsynth_core.interface import testing
from dpsynth_core.interface.asking import Answer, Answers
from dpsynth_core.interface.columns import discover
from dpsynth_core.interface.plan import Plan, plan
from dpsynth_core.interface.release import Release, open, verify
from dpsynth_core.interface.running import recover

__version__: str
__all__ = ["Answer", "Answers", "CapacityError", "ChargedError", "InputError", "Plan", "Release"]
__all__ += ["discover", "open", "plan", "recover", "testing", "verify"]
