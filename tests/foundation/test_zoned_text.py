"""What the text of a zoned value shows."""

from dpsynth_core.foundation.zones import curator_only, public, released


def test_the_text_of_a_curator_only_value_does_not_hold_it() -> None:
    assert repr(curator_only(("income of 12 people reads oddly",))) == "Curator-only()"
    assert f"{[curator_only(17)]}" == "[Curator-only()]"


def test_the_text_of_other_values_holds_them() -> None:
    assert repr(public("a")) == "Public('a')"
    assert str(released(2.5)) == "Released(2.5)"
