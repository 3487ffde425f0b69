"""Written queries for Python programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, overload

from dpsynth_core.extensions.queries.answering import answers
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface.release import Release
from dpsynth_core.report.asking import Answer, Answers


@overload
def query(release: Release, of: str, *, statistic: Literal["share", "count"] = "share") -> Answer: ...
@overload
def query(release: Release, of: list[str], *, statistic: Literal["share", "count"] = "share") -> Answers: ...
def query(release: Release, of: str | list[str], *, statistic: str = "share") -> Answer | Answers:
    """Answer queries about all, any or at least so many of some conditions, from a release.

    The value is exact for the released rows, or comes from noisy counts of the query's columns. There is an interval where the release
    says something of a table with all columns of the query; elsewhere the answer is a guess.

    Args:
        release: The release.
        of: A query such as "at least 2 of smoker=yes, bmi>=30, not age<60", or a list of queries. Weights are written before conditions, as
            in "at least 4 of 3*smoker=yes, 2*bmi>=30, -1*sport=yes". Conditions have the form of `where` and `ask`.
        statistic: "share" of all people, or "count" of people.

    Returns:
        The answer; for a list, `Answers` with one for each query, in order.

    Raises:
        InputError: If a query is not valid; the error says what is wrong and what to write.

    Examples:
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"], "age": (16, 95)}, epsilon=1, tables=2)
        >>> found = dps.query(plan.run(progress=False), "at least 2 of sex=female, age>=16, not sex=male")
        >>> 0.3 < found.value < 0.7
        True
    """
    if not isinstance(release, Release):
        raise InputError("release", "it is not a release", "give what run, recover or open returns")
    if isinstance(of, str):
        (answer,) = answers(release.made, [of], statistic)
        return replace(answer, group="")
    if not isinstance(of, list) or not all(isinstance(text, str) for text in of):
        raise InputError("query", "it is neither a text nor a list of texts", 'write ["at least 2 of smoker=yes, bmi>=30, age>=60"]')
    return answers(release.made, of, statistic)
