"""For whoever gets a release bundle: is it what it says?"""

from __future__ import annotations

from dpsynth_core.web import frame, verify_view
from dpsynth_core.zones import Zone


def main() -> None:
    frame.require("verify")
    frame.header("verify", "Check a release bundle that was published: from the bundle alone, without the private table.", Zone.RELEASED)
    verify_view.upload()


main()
