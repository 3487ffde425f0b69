from dpsynth_core.extensions.dummy.interface import Dummy as Dummy
from dpsynth_core.extensions.dummy.interface import dummy as dummy
from dpsynth_core.extensions.intervals.interface import analyse as analyse
from dpsynth_core.extensions.intervals.interface import pool as pool
from dpsynth_core.extensions.intervals.interface import samples as samples
from dpsynth_core.extensions.queries.interface import query as query
from dpsynth_core.extensions.rows_from.coarsening import protect_table as protect_table
from dpsynth_core.extensions.rows_from.interface import Fitted as Fitted
from dpsynth_core.extensions.rows_from.interface import rows_from as rows_from
from dpsynth_core.foundation.errors import CapacityError, ChargedError, InputError
from dpsynth_core.interface import testing
from dpsynth_core.interface.columns import discover, read_domain, write_domain
from dpsynth_core.interface.estimator import Synthesizer
from dpsynth_core.interface.plan import Plan, plan
from dpsynth_core.interface.release import Release, Sample, open, sample, verify
from dpsynth_core.interface.running import recover
from dpsynth_core.report.asking import Answer, Answers

__version__: str
__all__ = ["Answer", "Answers", "CapacityError", "ChargedError", "InputError", "Plan", "Release", "Sample", "Synthesizer"]
__all__ += ["discover", "open", "plan", "read_domain", "recover", "sample", "testing", "verify", "write_domain"]
