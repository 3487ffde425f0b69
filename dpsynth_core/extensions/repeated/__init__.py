"""Tables that are published again and again: a schedule of their budgets, and a report of what changed between two releases."""

from dpsynth_core.foundation.extension import Extension, Page

_HERE = "dpsynth_core.extensions.repeated"

EXTENSION = Extension(
    summary="Schedules of budgets for tables that are published again, and reports of what changed between two releases.",
    commands=(f"{_HERE}.schedule_command:add", f"{_HERE}.changes_command:add"),
    pages=(
        Page(
            name="changes",
            title="Changes",
            section="Explore",
            icon=":material/difference:",
            help="What changed between two releases.",
            draw=f"{_HERE}.changes_page:draw",
        ),
    ),
    views=(("budget", f"{_HERE}.schedule_view:budget"),),
    names=(
        ("schedule", f"{_HERE}.schedule_interface:schedule"),
        ("Schedule", f"{_HERE}.schedule:Schedule"),
        ("changes", f"{_HERE}.changes_interface:changes"),
        ("Changes", f"{_HERE}.changes_interface:Changes"),
    ),
)
