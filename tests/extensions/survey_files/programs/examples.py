"""A release of a file of SPSS with labels and user-missing codes. For `tests/extensions/programs/examples.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat

from dpsynth_core.planning.spec import Spec
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.files import declared_domain
from tests.extensions.programs.examples import packed
from tests.specs import usual


def survey() -> bytes:
    """Of a file of SPSS, as its labels describe it."""
    with tempfile.TemporaryDirectory() as folder:
        path = survey_file(Path(folder))
        form = default_format(path)
        domain = declared_domain(path, form)
        return packed(Spec.from_json(usual(form.section(path), domain, k=1, epsilon=8.0, mechanism="independent", output={"rows": 300})))


def survey_file(folder: Path) -> Path:
    """A file of SPSS with labels and user-missing codes: single codes, a range of codes, and texts."""
    rng = np.random.default_rng(5)
    answers: dict[str, list[Any]] = {"trust": [1.0, 2.0, 3.0, 8.0, 9.0, np.nan], "party": [1.0, 2.0, 95.0, 96.0, 97.0, 98.0]}
    answers["word"] = ["yes", "no", "ref", "dk", ""]
    path = folder / "survey.sav"
    pyreadstat.write_sav(
        pd.DataFrame({name: rng.choice(np.array(values, dtype=object), 500) for name, values in answers.items()}).infer_objects(),
        str(path),
        column_labels={"trust": "How far do you trust \"them\"?"},
        variable_value_labels={
            "trust": {1.0: "not at all", 2.0: "a little", 3.0: "fully", 8.0: "don't know", 9.0: "refused"},
            "party": {1.0: "Left", 2.0: "Right", 95.0: "none", 96.0: "refused", 97.0: "abroad", 98.0: "unknown"},
            "word": {"yes": "Yes", "no": "No", "ref": "refused", "dk": "don't know"},
        },
        variable_measure={"trust": "ordinal", "party": "nominal", "word": "nominal"},
        missing_ranges={"trust": [8.0, 9.0], "party": [{"lo": 95.0, "hi": 98.0}], "word": ["ref", "dk"]},
    )
    return path


EXAMPLES: dict[str, Callable[[], bytes]] = {"survey": survey}
