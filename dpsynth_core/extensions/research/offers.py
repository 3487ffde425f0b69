"""The wing's mechanisms by purpose (`mechanisms.registry`), and those that a paper prints."""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.extensions.research.mechanisms.games import dual_game, primal_game
from dpsynth_core.extensions.research.mechanisms.projection import gem, rap
from dpsynth_core.extensions.research.mechanisms.rules import learn, oraclequery
from dpsynth_core.extensions.research.mechanisms.weights import mixture, reweighing
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.projection.all_pairs import AllPairs
from dpsynth_core.mechanisms.projection.privsyn import PrivSyn

OFFERS: Mapping[str, tuple[Mechanism, ...]] = {
    "public": (reweighing.PmwPub(), mixture.Mixture()),
    "large": (
        *(rap.Rap(), gem.Gem(), AllPairs(), PrivSyn()),
        *(primal_game.Fem(), primal_game.SepFem(), dual_game.DualQuery(), dual_game.Dqrs()),
    ),
    "small": (reweighing.Mwem(),),
    "learning": (oraclequery.OracleQuery(), learn.Learn()),
}
"""Mechanisms by purpose, in the order in which they are recommended; a core mechanism is named for its place among them."""

PUBLISHED: tuple[Mechanism, ...] = (
    rap.PUBLISHED,
    gem.PUBLISHED,
    *primal_game.PUBLISHED,
    *dual_game.PUBLISHED,
    *reweighing.PUBLISHED,
    mixture.PUBLISHED,
    oraclequery.PUBLISHED,
    learn.PUBLISHED,
)
