"""`streamlit run app.py`: the server imports this file once for `app`; every page view runs it as the router."""

from __future__ import annotations

import streamlit as st

if __name__ == "__main__":
    from dpsynth_core.web.shell import frame

    frame.run()
else:
    from dpsynth_core.web.results import downloads
    from dpsynth_core.web.shell import security

    security.check_settings()
    security.forbid_legacy_pages()
    app = st.App(__file__, lifespan=security.lifespan, routes=downloads.routes(), middleware=security.MIDDLEWARE)
