"""Which folders a wheel is made of; all else is in pyproject.toml.

The app stands at the top of the repository, where Streamlit finds its pages. In a wheel it is a folder of the package, `studio`.
"""

from __future__ import annotations

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

STUDIO = "dpsynth_core.studio"


class Build(build_py):
    """The build, without this file."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return the modules of a package without this file, which lies beside app.py."""
        return [module for module in super().find_package_modules(package, package_dir) if module[1] != "setup"]


setup(
    cmdclass={"build_py": Build},
    packages=[*find_packages(include=["dpsynth_core*"]), STUDIO, f"{STUDIO}.pages"],
    package_dir={STUDIO: ".", f"{STUDIO}.pages": "pages"},
    package_data={
        "dpsynth_core": ["py.typed", "*.pyi", "*/*.html", "*/*.json", "*/*/*.css", "*/*/*.html", "*/*/*.js", "*/*/*.txt"],
        STUDIO: ["assets/*.css", "assets/*.js", "assets/*.svg", "assets/*/*", ".streamlit/config.toml"],
    },
)
