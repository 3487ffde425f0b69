"""Every claim, one entry each, in the order in which a run measures them: **a new claim is one file and one entry**."""

from __future__ import annotations

from typing import Any

from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.claims.claim import Claim
from dpsynth_core.claims.criteria.criteria import CRITERIA
from dpsynth_core.claims.means import MEANS
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.claims.ranges import RANGES
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.foundation import extension

_OWN: tuple[Claim[Any], ...] = (CERTIFICATE, MODELS, CRITERIA, RANGES, MEANS, WEIGHTED)
CLAIMS: tuple[Claim[Any], ...] = (*_OWN, *map(extension.load, extension.claims().values()))
"""New claims follow the criteria, which use the certificate's number of people and the measured models; a recipient finds the answers of
the three by this order. Those of extensions are last.
"""
