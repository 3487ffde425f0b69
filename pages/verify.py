"""Verify: recipients of a release bundle check its consistency."""

from __future__ import annotations

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import frame
from dpsynth_core.web.verify import verify_view


def main() -> None:
    """Draw the page: the upload of a bundle, and its checks."""
    frame.require("verify")
    frame.header("verify", "Check a published bundle, without the private table.", Zone.RELEASED)
    verify_view.upload()


main()
