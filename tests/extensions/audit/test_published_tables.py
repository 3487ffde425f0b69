"""An audit of a spec with published tables."""

from __future__ import annotations

from dpsynth_core.extensions.audit.mechanisms import Configuration
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning.spec import Spec
from tests.refusals import refused
from tests.release.test_published_tables import ZONES, crossed, stated
from tests.specs import usual


def test_an_audit_of_a_smaller_domain_leaves_them_out_and_says_so() -> None:
    assert "Published tables were left out." in Configuration.of(stated(ZONES)).left_out
    small = Spec.from_json(usual({"kind": "demo"}, {"a": 2, "b": 2}, published_tables=[crossed("a", "b", "01", 3)]))
    refused(Configuration.of, small, kind=CapacityError)  # kept, with all that is asked for
