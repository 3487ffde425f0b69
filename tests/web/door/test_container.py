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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Office:
    """compose.yaml as Compose starts it: variables of the environment resolved, and what the image says of a service that is built."""

    services: Mapping[str, Mapping[str, Any]]
    secrets: Mapping[str, Mapping[str, str]]
    configs: Mapping[str, Mapping[str, str]]
    networks: Mapping[str, Mapping[str, Any] | None]
    volumes: Mapping[str, Any]

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Office:
        parts = yaml.safe_load(resolved((ROOT / "compose.yaml").read_text(encoding="utf-8"), environment))
        services = {name: _of_image() | service if "build" in service else service for name, service in parts.pop("services").items()}
        return cls(services, **parts)

    def writable(self, name: str) -> set[str]:
        """The places of a service's container where it can write."""
        service = self.services[name]
        volumes = [volume.split(":") for volume in service.get("volumes", ())]
        tmpfs = [place.partition(":")[0] for place in service.get("tmpfs", ())]
        return {*tmpfs, *(place for _, place, *options in volumes if "ro" not in options)}


def resolved(text: str, environment: Mapping[str, str]) -> str:
    """With ${NAME}, ${NAME:-default} and ${NAME:?message} as Compose reads them. Raises KeyError where one is missing."""

    def value(found: re.Match[str]) -> str:
        name, default = found[1], found[2]
        return environment.get(name) or default if default is not None else environment[name]

    return re.sub(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}", value, text)


def _of_image() -> dict[str, Any]:
    """What the Dockerfile says of a container that runs it."""
    user = re.findall(r"^USER (\w+)$", DOCKERFILE, flags=re.MULTILINE)
    uid = re.search(rf"useradd .*--uid (\d+) .* {user[-1]} ", DOCKERFILE)
    assert uid is not None
    return {"user": uid[1], "healthcheck": {"test": command("^HEALTHCHECK.* CMD")}}


OFFICE = Office.read({})
SERVICES = tuple(OFFICE.services)
RIGHTS = {"proxy": ["NET_BIND_SERVICE"]}
"""Capabilities that a service keeps: ports below 1,024."""
WRITABLE = {
    "studio": {"/data", "/tmp"},
    "database": {"/var/lib/postgresql/data", "/run/postgresql", "/tmp"},
    "proxy": {"/data", "/config", "/tmp"},
}


def test_variables_are_resolved_as_compose_does() -> None:
    assert resolved("a: ${A} ${B:-two} ${C:?say it}", {"A": "1", "C": "3"}) == "a: 1 two 3"
    with pytest.raises(KeyError):
        resolved("${C:?say it}", {})


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_no_more_than_it_needs(name: str) -> None:
    service = OFFICE.services[name]
    assert "build" in service or re.fullmatch(r"\w+:\d+\.\d+(\.\d+)?@sha256:[0-9a-f]{64}", service["image"]), "a version and its digest"
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == RIGHTS.get(name, [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "devices", "network_mode", "pid", "ipc", "userns_mode", "extends"} & set(service)
    assert service["read_only"] is True
    assert OFFICE.writable(name) == WRITABLE[name]
    assert not any("docker.sock" in volume for volume in service["volumes"])
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["pids_limit"] <= 512
    assert service["healthcheck"]["test"]
    assert service["restart"] == "unless-stopped"
    assert re.fullmatch(r"1m|30s", service["stop_grace_period"]), "more than the ten seconds that Compose gives"
    assert name == "proxy" or service["user"].partition(":")[0] not in ("", "0", "root")


def test_every_base_of_the_image_has_a_digest() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE, flags=re.MULTILINE)
    assert bases
    assert all(re.search(r":\d[\w.-]+@sha256:[0-9a-f]{64}$", base) for base in bases)


def test_secrets_are_files_that_one_service_has_and_no_environment() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    assert "${" not in text, "no variable of the person who starts it, which `docker inspect` would show"
    given = {name: service.get("secrets", []) for name, service in OFFICE.services.items()}
    assert given == {"studio": ["pgpass"], "database": ["admin_password", "database_password"], "proxy": []}
    assert set(OFFICE.secrets) == {secret for some in given.values() for secret in some}
    for name, secret in OFFICE.secrets.items():
        assert secret == {"file": f"./secrets/{name}"}
    assert {"/secrets/", "/secrets.toml"} <= set((ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()), "no commit has one"
    for service in OFFICE.services.values():
        for variable, value in service.get("environment", {}).items():
            secretive = re.search("PASS|SECRET|TOKEN|KEY", variable)
            assert not secretive or (variable.endswith("FILE") and value.removeprefix("/run/secrets/") in service["secrets"]), variable
    listed = (ROOT / "docs" / "office.md").read_text(encoding="utf-8")
    assert all(f"secrets/{name}" in listed for name in OFFICE.secrets)


def test_the_office_of_compose_is_the_container_and_keeps_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    studio, database, proxy = (OFFICE.services[name] for name in ("studio", "database", "proxy"))
    port = re.search(r"^EXPOSE (\d+)$", DOCKERFILE, flags=re.MULTILINE)
    assert port is not None
    assert studio["expose"] == [port[1]]
    assert "ports" not in studio and "ports" not in database, "they are reached through the proxy alone"  # noqa: PT018
    assert proxy["ports"] == ["80:80", "443:443"]
    site = studio["environment"]["DPSYNTH_URL"].removeprefix("https://")
    assert proxy["command"] == f"caddy reverse-proxy --from {site} --to studio:{port[1]}"
    assert "studio:/data" in studio["volumes"] and 'VOLUME ["/data"]' in DOCKERFILE  # noqa: PT018
    assert studio["user"] == "10001"
    assert "./secrets.toml:/app/.streamlit/secrets.toml:ro" in studio["volumes"] and "WORKDIR /app" in DOCKERFILE  # noqa: PT018
    listed = (ROOT / "docs" / "guide" / "operations.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in listed for name in studio["environment"] if name.startswith("DPSYNTH_"))
    monkeypatch.setenv("DPSYNTH_DATABASE", studio["environment"]["DPSYNTH_DATABASE"])
    made = (ROOT / "role.sql").read_text(encoding="utf-8")
    role, name = re.search(r"ROLE (\w+) LOGIN", made), re.search(r"DATABASE (\w+) OWNER (\w+)", made)
    assert role is not None
    assert name is not None
    assert postgres.address() == f"postgresql://{role[1]}@database/{name[1]}"
    assert (role[1], name[2]) == ("studio", "studio"), "the role owns its database"
    assert not {"POSTGRES_USER", "POSTGRES_DB"} & set(database["environment"]), "that one is a superuser"
    assert database["configs"] == [{"source": "role", "target": "/docker-entrypoint-initdb.d/role.sql"}]
    assert OFFICE.configs == {"role": {"file": "./role.sql"}}, "a text in compose.yaml cannot be put into a container that is read-only"
    assert [name for name, service in OFFICE.services.items() if "books" in service["networks"]] == ["studio", "database"]
    assert OFFICE.networks["books"] == {"internal": True}
    assert set(OFFICE.volumes) == {volume.partition(":")[0] for each in OFFICE.services.values() for volume in each["volumes"]
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
