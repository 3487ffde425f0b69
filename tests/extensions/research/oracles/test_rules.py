"""Classes of rules: separator sets that separate, by going through all pairs; words and JSON that say what a rule does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.rules import lists
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import numbered
from dpsynth_core.extensions.research.oracles.rules.rules import (
    CONJUNCTION,
    DECISION_LIST,
    DISJUNCTION,
    HALFSPACE,
    KINDS,
    MAX_COLUMNS,
    PARITY,
    Feature,
    Rule,
    RuleClass,
    features,
)
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.occupied import MAX_BINARY
from tests.refusals import refused

DOMAIN = Domain.from_json(
    {
        "version": 1,
        "attributes": [
            {"name": "ill", "kind": "categorical", "categories": ["no", "yes"], "other": False, "missing": False},
            {"name": "smokes", "kind": "categorical", "categories": ["no", "yes"], "other": False, "missing": False},
            {"name": "old", "kind": "coded", "size": 2},
            {"name": "region", "kind": "coded", "size": 5},
        ],
    }
)


def class_of(kind: str, p: int, closed: bool = False) -> RuleClass:
    return RuleClass(kind, tuple(Feature(f"c{i}", 1) for i in range(p)), closed)


def every(rules: RuleClass) -> list[Rule]:
    if rules.kind == DECISION_LIST:
        return list(lists.every(rules))
    return [numbered(rules, number) for number in range(2 ** (len(rules.features) + rules.closed))]


CLASSES = [class_of(kind, p) for kind in KINDS for p in (1, 2, 4)]
CLASSES += [class_of(kind, p, closed=True) for kind in KINDS if kind != DECISION_LIST for p in (1, 2, 4)]


@pytest.mark.parametrize("rules", CLASSES, ids=lambda r: f"{r.kind}-{len(r.features)}-{r.closed}")
def test_separators_tell_all_rules_of_a_class_apart(rules: RuleClass) -> None:
    all_records = np.array(list(product((False, True), repeat=len(rules.features))))
    functions = {rule.holds(all_records).tobytes() for rule in every(rules)}
    seen = {rule.holds(rules.separators).tobytes() for rule in every(rules)}
    assert len(seen) == len(functions) > 1
    assert np.log2(len(functions)) <= rules.log2_size <= len(rules.separators) + 1e-9


@pytest.mark.parametrize("rules", CLASSES, ids=lambda r: f"{r.kind}-{len(r.features)}-{r.closed}")
def test_losses_of_a_prediction_are_separated_by_as_many_records(rules: RuleClass) -> None:
    """At (separator, y = 0) the loss |q(x) - y| is q(x)."""
    seen = rules.separators
    losses = {(rule.holds(seen) != np.zeros(len(seen), dtype=bool)).tobytes() for rule in every(rules)}
    assert len(losses) == len({rule.holds(seen).tobytes() for rule in every(rules)})


@pytest.mark.parametrize("rules", CLASSES, ids=lambda r: f"{r.kind}-{len(r.features)}-{r.closed}")
def test_a_negation_holds_exactly_where_the_rule_does_not(rules: RuleClass) -> None:
    all_records = np.array(list(product((False, True), repeat=len(rules.features))))
    for rule in every(rules)[:64]:
        assert (rule.negation().holds(all_records) != rule.holds(all_records)).all()


def test_the_first_four_have_one_separator_a_feature_and_lists_about_half_their_square() -> None:
    assert [len(class_of(kind, 10).separators) for kind in KINDS] == [10, 10, 10, 10, 56]
    assert len(class_of(CONJUNCTION, 10, closed=True).separators) == 11


@pytest.mark.parametrize("kind", ["decision_tree", "dnf", "real_halfspace", "svm"])
def test_a_class_without_separator_set_is_refused_with_the_reason(kind: str) -> None:
    refused(class_of, kind, 3, saying=f"class of rules: '{kind}' cannot be learnt in private here: .*; use one of conjunction")


def test_columns_with_more_than_two_values_are_refused() -> None:
    refused(features, DOMAIN, ("ill", "region"), saying="column 'region': it has 5 values")


@pytest.mark.parametrize("kind", KINDS)
def test_more_columns_than_a_class_can_be_learnt_over_are_refused_with_the_widths_of_all(kind: str) -> None:
    most = MAX_COLUMNS[kind]
    wide = Domain.from_json({f"c{i}": 2 for i in range(most + 1)})
    assert len(RuleClass(kind, features(wide, wide.names[1:], both=True)).features) == 2 * most
    with pytest.raises(CapacityError, match=f"{most + 1} columns are more than the {most} .* 60 at most for all or any .* 20 for other"):
        RuleClass(kind, features(wide, wide.names))


def test_records_over_the_columns_of_the_widest_class_and_a_target_can_be_numbered() -> None:
    assert max(MAX_COLUMNS.values()) + 1 <= MAX_BINARY


def test_features_read_codes_by_column_name() -> None:
    both = RuleClass(CONJUNCTION, features(DOMAIN, ("ill", "old"), both=True))
    seen = both.seen(np.array([[1, 0], [0, 1]]), ("old", "ill"))
    assert seen.tolist() == [[False, True, True, False], [True, False, False, True]]


@pytest.mark.parametrize(
    ("kind", "chosen", "words"),
    [
        (CONJUNCTION, (0, 1), "if ill is 'yes' and smokes is 'yes'"),
        (CONJUNCTION, (), "always"),
        (DISJUNCTION, (0, 2), "if ill is 'yes' or old is '1'"),
        (DISJUNCTION, (), "never"),
        (PARITY, (0, 1), "if an odd number of these hold: ill is 'yes', smokes is 'yes'"),
        (HALFSPACE, (0,), "if more of these hold (ill is 'yes') than of these (smokes is 'yes', old is '1')"),
    ],
)
def test_rules_read_as_sentences(kind: str, chosen: tuple[int, ...], words: str) -> None:
    rules = RuleClass(kind, features(DOMAIN, ("ill", "smokes", "old")))
    assert rules.rule(chosen).in_words(DOMAIN) == words


def test_a_negated_rule_and_a_decision_list_read_as_sentences() -> None:
    three = features(DOMAIN, ("ill", "smokes", "old"))
    assert RuleClass(CONJUNCTION, three).rule((0,), negated=True).in_words(DOMAIN) == "unless ill is 'yes'"
    assert RuleClass(CONJUNCTION, three).rule((), negated=True).in_words(DOMAIN) == "never"
    listed = Rule(DECISION_LIST, three, (1, 0), (True, False), otherwise=True)
    assert listed.in_words(DOMAIN) == "yes if smokes is 'yes'; else no if ill is 'yes'; otherwise yes"


def test_the_json_of_a_rule_names_columns_and_values() -> None:
    half = RuleClass(HALFSPACE, features(DOMAIN, ("ill", "smokes"))).rule((1,))
    assert half.to_json(DOMAIN) == {
        "kind": "halfspace",
        "features": [{"column": "smokes", "value": "yes"}],
        "negated": False,
        "against": [{"column": "ill", "value": "yes"}],
    }
