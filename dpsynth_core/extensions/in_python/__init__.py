"""Python code for a plan: under each step of the wizard, the code that states what was entered so far."""

from dpsynth_core.foundation.extension import Extension

EXTENSION = Extension(
    summary="The code of a plan, under each step of the wizard.",
    views=(("sidebar", "dpsynth_core.extensions.in_python.view:draw"),),
)
