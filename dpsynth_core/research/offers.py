"""The wing's mechanisms, by purpose (`mechanisms.registry`), and those of them that a paper prints."""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.projection.privsyn import PrivSyn
from dpsynth_core.research.mechanisms.games import dual_game, primal_game
from dpsynth_core.research.mechanisms.games.dual_game import Dqrs, DualQuery
from dpsynth_core.research.mechanisms.games.primal_game import Fem, SepFem
from dpsynth_core.research.mechanisms.projection import gem, rap
from dpsynth_core.research.mechanisms.projection.gem import Gem
from dpsynth_core.research.mechanisms.projection.rap import Rap
from dpsynth_core.research.mechanisms.rules import learn, oraclequery
from dpsynth_core.research.mechanisms.rules.learn import Learn
from dpsynth_core.research.mechanisms.rules.oraclequery import OracleQuery
from dpsynth_core.research.mechanisms.weights import mixture, reweighing
from dpsynth_core.research.mechanisms.weights.mixture import Mixture
from dpsynth_core.research.mechanisms.weights.reweighing import Mwem, PmwPub

OFFERS: Mapping[str, tuple[Mechanism, ...]] = {
    "public": (PmwPub(), Mixture()),
    "large": (Rap(), Gem(), PrivSyn(), Fem(), SepFem(), DualQuery(), Dqrs()),
    "small": (Mwem(),),
    "learning": (OracleQuery(), Learn()),
}
"""In the order in which they are recommended; one of the core's own is named for its place among them."""

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
