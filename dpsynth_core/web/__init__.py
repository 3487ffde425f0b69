"""The pages' shared code: the frame, the owner and the draft of the current project, controlled widgets, server hardening.

The only package that may import Streamlit besides the pages themselves. `brand`, `text`, `numbers`, `steps` and `document` do not
need it and are plain functions.
"""
