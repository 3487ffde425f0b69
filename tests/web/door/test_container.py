"""The container's own command, run as the Dockerfile has it: it lets nobody in without the token, and says how to come in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from dpsynth_core.store import postgres
from tests.patience import SECONDS
from tests.servers import ROOT, free_port, serving

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")


def command(pattern: str) -> list[str]:
    """The list behind an instruction, with this Python."""
    instruction = re.search(pattern + r" (\[.*\])$", DOCKERFILE, flags=re.MULTILINE)
    assert instruction is not None
    program, *arguments = json.loads(instruction[1])
    assert program == "python"
    return [sys.executable, *arguments]


def status(address: str, headers: Mapping[str, str]) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=dict(headers)), timeout=SECONDS) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def test_it_serves_nobody_without_the_token_and_says_how_to_come_in(tmp_path: Path) -> None:
    start, (_, *arguments) = command("^CMD"), command("^HEALTHCHECK.* CMD")
    assert start[1:5] == ["-m", "streamlit", "run", "app.py"]
    options = [option for option in start[5:] if not option.startswith("--server.port")]
    assert "--server.address=0.0.0.0" in options
    stated = re.search(r"(DPSYNTH_URL)=(\S+)", DOCKERFILE)
    assert stated is not None
    environment = {stated[1]: stated[2]}
    with serving(tmp_path / "home", *options, log=tmp_path / "log", environment=environment) as server:
        for headers in ({}, {"cookie": "dpsynth_owner=" + "0" * 32}, {"x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1"}):
            assert status(server.url, headers) == 403
        check = [argument.replace(":8501/", f":{server.port}/") for argument in arguments]
        deadline = time.monotonic() + SECONDS  # the queue is looked at for the first time after two seconds
        while subprocess.run([sys.executable, *check], timeout=SECONDS, check=False, stderr=subprocess.DEVNULL).returncode:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        token = server.token
    printed = (tmp_path / "log").read_text(encoding="utf-8")
    assert f"docker exec CONTAINER cat {tmp_path / 'home' / 'token'}" in printed
    assert "set sign-in up" in printed
    assert token not in printed


def test_the_office_of_compose_is_the_container_and_keeps_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    port, url = re.search(r"^EXPOSE (\d+)$", DOCKERFILE, flags=re.MULTILINE), re.search(r"DPSYNTH_URL: (\S+)", text)
    assert port is not None
    assert url is not None
    assert f"--to studio:{port[1]}" in text
    assert f"--from {url[1].removeprefix('https://')} " in text
    assert "studio:/data" in text and 'VOLUME ["/data"]' in DOCKERFILE  # noqa: PT018
    assert "uid 10001" in text and "--uid 10001" in DOCKERFILE  # noqa: PT018
    assert "/app/.streamlit/secrets.toml:ro" in text and "WORKDIR /app" in DOCKERFILE  # noqa: PT018
    listed = (ROOT / "docs" / "guide" / "operations.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in listed for name in re.findall(r"DPSYNTH_[A-Z_]+", text))
    published = re.findall(r"ports: (.*)", text)
    assert published == ['["80:80", "443:443"]'], "the server itself is reached through the proxy alone"
    parts = yaml.safe_load(text)
    studio, database = parts["services"]["studio"], parts["services"]["database"]
    monkeypatch.setenv("DPSYNTH_DATABASE", studio["environment"]["DPSYNTH_DATABASE"])
    stated, made = database["environment"], parts["configs"]["role"]["content"]
    role, name = re.search(r"ROLE (\w+) LOGIN", made), re.search(r"DATABASE (\w+) OWNER (\w+)", made)
    assert role is not None
    assert name is not None
    assert postgres.address() == f"postgresql://{role[1]}@database/{name[1]}"
    assert (role[1], name[2]) == ("studio", "studio"), "the role owns its database"
    assert not {"POSTGRES_USER", "POSTGRES_DB"} & set(stated), "that one is a superuser"
    assert "${DATABASE_PASSWORD:?" in studio["environment"]["PGPASSWORD"] and "${DATABASE_PASSWORD:?" in stated["STUDIO_PASSWORD"]  # noqa: PT018
    assert "ADMIN_PASSWORD" in stated["POSTGRES_PASSWORD"]
    assert "ADMIN_PASSWORD" not in str(studio), "the server does not get it"
    assert database["configs"] == [{"source": "role", "target": "/docker-entrypoint-initdb.d/role.sql"}]
    assert [name for name, service in parts["services"].items() if "books" in service["networks"]] == ["studio", "database"]
    assert parts["networks"]["books"] == {"internal": True}
    assert set(parts["volumes"]) == {volume.partition(":")[0] for each in parts["services"].values() for volume in each["volumes"]
        if not volume.startswith(".")}  # fmt: skip


@pytest.mark.parametrize("package", ["pydantic", "opendp"], ids=["loaded at once", "loaded for the pages"])
def test_a_package_that_is_missing_is_named_with_its_remedy(package: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{package!r}] = None\n")
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={free_port()}"]
    environment = {**os.environ, "DPSYNTH_HOME": str(tmp_path / "home"), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode != 0
    assert f"The wizard does not start. packages: {package} is missing; pip install dpsynth-studio; in a checkout: make run" in done.stderr
    assert "Traceback" not in done.stderr
