"""The picture of a column's cells: every cell is in it, and no text of a table becomes markup."""

from __future__ import annotations

from hypothesis import given

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.web.domain import column_view
from tests.domains import attributes


@given(attributes())
def test_nothing_in_a_label_is_markup(attribute: Attribute) -> None:
    drawn = column_view.html(attribute)
    for ours in ('<div class="cells">', "</div>", '<span class="cell">', '<span class="cell extra">', "</span>", "<i ", "</i>"):
        drawn = drawn.replace(ours, "")
    assert "<script" not in drawn
    assert "<" not in drawn or attribute.values > column_view.MOST_NAMED


def test_a_few_cells_are_named_and_many_are_stripes_as_wide_as_their_bins() -> None:
    few = column_view.html(Attribute.categorical("sex", ["f", "m"], labels=["<b>female", "male"], other=True))
    assert few.count('class="cell"') == 2
    assert "&lt;b&gt;female" in few
    assert few.count("extra") == 1
    many = column_view.html(Attribute.integer("age", 0, 100, edges=[0, *range(50, 102)]))
    assert many.count("<i ") == 52
    assert "flex-grow:0.49505" in many
    assert "52 values: 0 to 49 … 100" in many
