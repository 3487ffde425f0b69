"""Audits of privacy promises: run an operation or mechanism on two neighbouring tables and test whether its answers differ too much.

The tables are of invented people. Answers may tell the two tables apart only as far as the charge allows.

An audit can show that a promise is broken. It can never show that a promise is kept: the proofs are in `privacy`.
"""

from dpsynth_core.foundation.extension import Extension

EXTENSION = Extension(
    summary="Two neighbouring tables of invented people, told apart where a promise is broken.",
    commands=("dpsynth_core.extensions.audit.command:add",),
)
