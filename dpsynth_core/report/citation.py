"""The citation of a release and its version, in one sentence each."""

from __future__ import annotations

from dpsynth_core.release.release import Release


def version(release: Release) -> str:
    """Return the version "1.0.0+" with the start of the plan's seal.

    The number is always the same because a release never changes.
    """
    return f"1.0.0+{release.seal[:12]}"


def sentence(release: Release) -> str:
    """Return the curator's citation, or else one made of creators, year, title and the plan's seal.

    It is unescaped text of the curator.
    """
    stated, seal = release.about.stated, release.seal
    by = f"{'; '.join(stated.creators)} " if stated.creators else ""
    return stated.citation or f"{by}({release.created[:4]}). {release.spec.name} [synthetic data]. Plan {seal}."
