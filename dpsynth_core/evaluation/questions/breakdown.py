"""Ask one question for each value of a column, each answer with its own interval.

Each interval holds with 95 % confidence on its own; `benchmarks/questions.py` measures how often all of a breakdown hold together.
Intervals from a table's limit alone hold for all lines at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsynth_core.evaluation.questions.answer import LIMITED, Answer, answer
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.question import COUNT, MEAN, MEDIAN, SHARE, Question
from dpsynth_core.foundation.errors import InputError

STATISTICS = (COUNT, SHARE, MEAN, MEDIAN)
"""That can be broken down."""
MOST_LINES = 200
MEASURED, BOUND, GUESS = "measured", "bound", "guess"


@dataclass(frozen=True)
class Line:
    """The answer to a question for the people in one cell of the column.

    Attributes:
        code: The code of the cell.
        answer: The answer for these people.
    """

    code: int
    answer: Answer

    @property
    def standing(self) -> str:
        """BOUND if only a table's limit supports the answer, GUESS without evidence, else MEASURED."""
        if not self.answer.evidence:
            return GUESS
        return BOUND if self.answer.evidence == (LIMITED,) else MEASURED


def breakdown(known: Known, question: Question, by: str) -> Sequence[Line]:
    """Return the answer to a question for each cell of a column that the group may be in, in code order.

    Args:
        known: The released values.
        question: The question, about a count, share, mean or median.
        by: The column by whose cells the group is divided.

    Raises:
        InputError: The question cannot be asked of these columns or cannot be broken down, or the
            group may be in more than 200 cells of the column (`MOST_LINES`).
        KeyError: A column is not in the domain.
    """
    question.checked(known.domain)
    if question.statistic not in STATISTICS:
        raise InputError("breakdown", "this statistic cannot be broken down", f"use one of {', '.join(STATISTICS)}")
    codes = question.among.get(by, tuple(range(known.domain[by].size)))
    if len(codes) > MOST_LINES:
        raise InputError("breakdown", f"the column has more than {MOST_LINES} values", "choose some of them as the group")
    return tuple(Line(code, answer(known, replace(question, among={**question.among, by: (code,)}))) for code in codes)
