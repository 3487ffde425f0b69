"""`streamlit run app.py`: the server imports this file once for `app`; every page view runs it as the router."""

from __future__ import annotations

import sys

from dpsynth_core.foundation.causes import cause_of

try:
    import streamlit as st

    if __name__ == "__main__":
        from dpsynth_core.web.shell import frame
    else:
        from dpsynth_core.web.ledger import programs
        from dpsynth_core.web.results import downloads
        from dpsynth_core.web.shell import health, security
except ImportError as error:
    if (cause := cause_of(error)) is None:
        raise
    sys.exit(f"The wizard does not start. {cause}")

if __name__ == "__main__":
    frame.run()
else:
    security.check_settings()
    security.describe_exceptions()
    security.forbid_legacy_pages()
    routes = [*downloads.routes(), *programs.routes(), *health.routes()]
    app = st.App(__file__, lifespan=security.lifespan, routes=routes, middleware=security.MIDDLEWARE)
