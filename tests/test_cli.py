"""The command line keeps its contract: files, progress, exit codes, one line for a mistake, the ledger only when asked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core import cli
from dpsynth_core.bundle import pack, unpack
from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE
from dpsynth_core.release import synthesis
from dpsynth_core.store import chain, ledger
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway, target

Run = Callable[..., int]

DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"]},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5},
        {"name": "pay", "kind": "numeric", "lower": 0.0, "upper": 10.0, "bins": 4, "missing": True},
    ],
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its domain, and no other home."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(0, 100, 300), "sex": rng.choice(["f", "m"], 300), "pay": rng.uniform(0, 10, 300).round(2)})
    frame.loc[::7, "pay"] = None
    frame.to_csv("people.csv", index=False)
    Path("domain.json").write_text(json.dumps(DOMAIN))
    return tmp_path


ROOT = Path(__file__).resolve().parents[1]


def synthesize(*extra: str, data: str = "people.csv", epsilon: str = "1", domain: str = "domain.json", out: str = "out") -> int:
    given = [data, "--domain", domain, "--epsilon", epsilon, "--out", out, "--workload", "all-2way", *extra]
    return cli.main(["synthesize", *given])


def release() -> dict[str, Any]:
    return json.loads(Path("out/release.json").read_text())


def test_a_release_of_rows_that_open_like_the_original() -> None:
    assert synthesize() == 0
    original, made = pd.read_csv("people.csv"), pd.read_csv("out/synthetic.csv")
    assert list(made.columns) == list(original.columns)
    assert made.dtypes.to_dict() == original.dtypes.to_dict()
    assert set(made["sex"]) <= {"f", "m"}
    assert sorted(p.name for p in Path("out").iterdir()) == ["release.json", "release.zip", "synthetic.csv"]


def test_the_release_document_says_how_it_was_made() -> None:
    assert synthesize("--relation", "replace", "--set", "measure_share=0.8", "--set", "rounds_per_attribute=4") == 0
    said = release()
    assert said["private"] is True
    settings = {"max_size_mb": 256.0, "rounds_per_attribute": 4, "reserve_rounds": 8, "measure_share": 0.8}
    assert said["spec"]["mechanism"] == {"name": "aim", "settings": settings}
    assert said["spec"]["unit"]["relation"] == "replace"
    assert said["rows"]["count"] == 300
    assert 0 < said["budget"]["rho_spent"] <= said["budget"]["rho"]
    assert said["measurements"][0].keys() == {"attributes", "sigma", "rounding", "values"}
    assert said["timings"]["total"] > 0
    assert said["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert said["ledger"] == {}


def test_a_certificate_by_default_another_share_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize() == 0
    said = release()
    assert said["spec"]["budget"]["certificate"] == DEFAULT_CERTIFICATE
    assert said["certificate"]["rho"] == pytest.approx(DEFAULT_CERTIFICATE * said["budget"]["rho"], rel=1e-6)
    assert [one["attributes"] for one in said["certificate"]["marginals"]] == [["age", "sex"], ["age", "pay"], ["sex", "pay"]]
    assert {"attributes", "error", "bound95"} <= said["certificate"]["marginals"][0].keys()
    assert "certificate: mean error " in capsys.readouterr().err
    assert synthesize("--certificate", "0.25") == 0
    assert release()["certificate"]["rho"] == pytest.approx(0.25 * said["budget"]["rho"], rel=1e-6)
    assert synthesize("--certificate", "0") == 0
    assert release()["certificate"] is None
    assert "certificate" not in capsys.readouterr().err.splitlines()[-1]


def test_one_line_of_progress_for_each_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize() == 0
    out, err = capsys.readouterr()
    assert out == ""
    rounds = [line for line in err.splitlines() if line.startswith("round ")]
    assert len(rounds) == len(release()["measurements"])
    assert "round 0: measured age, sigma " in rounds[0]
    assert "% done" in rounds[0]


def test_a_seed_repeats_the_rows_and_says_not_private(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--seed", "7") == 0
    first = Path("out/synthetic.csv").read_bytes()
    assert "not private" in capsys.readouterr().err.lower()
    assert release()["private"] is False
    assert "not private" in release()["statement"].lower()
    assert synthesize("--seed", "7") == 0
    assert Path("out/synthetic.csv").read_bytes() == first


def test_rows_option_sets_the_number_of_rows() -> None:
    assert synthesize("--rows", "12") == 0
    assert len(pd.read_csv("out/synthetic.csv")) == 12


@pytest.mark.parametrize("text", ["all-1way", "target:sex:2", "workload.json"])
def test_workload_forms(text: str) -> None:
    Path("workload.json").write_text('{"kind": "marginals", "marginals": [{"attributes": ["sex", "age"], "weight": 2.0}]}')
    assert cli.main(["synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", text]) == 0


def test_parse_workload_reads_columns_with_colons_in_their_names() -> None:
    domain = Domain.from_json({"a:b": 2, "c": 3})
    assert cli.parse_workload("target:a:b:2", domain).cliques == (("a:b", "c"),)
    assert cli.parse_workload("all-2way", domain).cliques == (("a:b", "c"),)
    with pytest.raises(InputError, match="--workload"):
        cli.parse_workload("all-way", domain)


def test_parse_workload_reads_thresholds_over_all_columns_and_around_one() -> None:
    domain = Domain.from_json({"a:b": 2, "c": 3, "d": 2})
    assert cli.parse_workload("threshold:1-of-2:all", domain) == all_kway(domain, 2).asking(1)
    assert cli.parse_workload("threshold:2-of-3:target:a:b", domain) == target(domain, "a:b", 3).asking(2)
    for mistake in ("threshold:4-of-3:all", "threshold:0-of-2:all", "threshold:1-of-2", "threshold:1:all", "threshold:1-of-2:some"):
        with pytest.raises(InputError, match=r"--workload|threshold"):
            cli.parse_workload(mistake, domain)


def test_thresholds_are_refused_by_a_mechanism_that_does_not_know_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--workload", "threshold:1-of-2:all") == cli.BAD_INPUT
    assert "cannot ask who matches at least 1 of the columns" in capsys.readouterr().err


def test_a_spec_makes_the_same_release_as_the_options_it_came_from() -> None:
    assert synthesize("--seed", "3") == 0
    said, rows = release(), Path("out/synthetic.csv").read_bytes()
    Path("spec.json").write_text(json.dumps(said["spec"]))
    assert cli.main(["run", "spec.json", "--out", "again"]) == 0
    assert Path("again/synthetic.csv").read_bytes() == rows
    assert json.loads(Path("again/release.json").read_text())["spec_sha256"] == said["spec_sha256"]


def test_mechanisms_prints_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mechanisms"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(registry.describe()))


def pipe(name: str) -> str:
    os.mkfifo(name)
    return name


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


MISTAKES: dict[str, Callable[[], int]] = {
    "no command": lambda: cli.main([]),
    "unknown command": lambda: cli.main(["make"]),
    "missing option": lambda: cli.main(["synthesize", "people.csv"]),
    "certificate of all": lambda: synthesize("--certificate", "1"),
    "certificate in words": lambda: synthesize("--certificate", "none"),
    "unknown option": lambda: synthesize("--colour", "red"),
    "abbreviated option": lambda: synthesize("--work", "all-1way"),
    "missing file": lambda: synthesize(data="nowhere.csv"),
    "empty file": lambda: synthesize(data=write("empty.csv", "")),
    "only a header": lambda: synthesize(data=write("header.csv", "age,sex,pay\n")),
    "duplicate columns": lambda: synthesize(data=write("twice.csv", "age,sex,sex,pay\n1,f,f,2\n")),
    "not a table": lambda: synthesize(data=write("binary.csv", "\x00\x01\x02")),
    "missing domain": lambda: synthesize(domain="nowhere.json"),
    "domain is a pipe": lambda: synthesize(domain=pipe("domain.pipe")),
    "domain is a device": lambda: synthesize(domain="/dev/zero"),
    "domain is a folder": lambda: synthesize(domain="."),
    "data is a pipe": lambda: synthesize(data=pipe("data.csv")),
    "workload is a pipe": lambda: synthesize("--workload", pipe("w.json")),
    "spec is a pipe": lambda: cli.main(["run", pipe("spec.json"), "--out", "out"]),
    "domain no json": lambda: synthesize(domain=write("bad.json", "{")),
    "domain reversed": lambda: synthesize(
        domain=write("rev.json", '{"version": 1, "attributes": [{"name": "age", "kind": "integer", "lower": 90, "upper": 10, "bins": 2}]}')
    ),
    "unknown column": lambda: synthesize(domain=write("zip.json", '{"age": 100, "zip": 3}')),
    "epsilon zero": lambda: synthesize(epsilon="0"),
    "epsilon text": lambda: synthesize(epsilon="one"),
    "epsilon nan": lambda: synthesize(epsilon="nan"),
    "epsilon negative": lambda: synthesize(epsilon="-1"),
    "delta too large": lambda: synthesize("--delta", "1e-3"),
    "unknown relation": lambda: synthesize("--relation", "swap"),
    "unknown mechanism": lambda: synthesize("--mechanism", "magic"),
    "unknown setting": lambda: synthesize("--set", "magic=1"),
    "bad setting": lambda: synthesize("--set", "max_size_mb=lots"),
    "setting without value": lambda: synthesize("--set", "max_size_mb"),
    "unknown quoting": lambda: synthesize("--quoting", "some"),
    "unknown encoding": lambda: synthesize("--encoding", "klingon"),
    "long delimiter": lambda: synthesize("--delimiter", "::"),
    "wrong delimiter": lambda: synthesize("--delimiter", "tab"),
    "open quote": lambda: synthesize("--quoting", "standard", data=write("open.csv", 'age,sex,pay\n1,f,2\n1,f,2\n"1,f,2\n')),
    "setting twice": lambda: synthesize("--set", "max_size_mb=1", "--set", "max_size_mb=2"),
    "rows zero": lambda: synthesize("--rows", "0"),
    "rows text": lambda: synthesize("--rows", "many"),
    "seed text": lambda: synthesize("--seed", "x"),
    "unknown workload": lambda: synthesize("--workload", "everything"),
    "workload beyond columns": lambda: synthesize("--workload", "all-9way"),
    "workload unknown column": lambda: synthesize("--workload", "target:zip:2"),
    "workload bad json": lambda: synthesize("--workload", write("w.json", "[")),
    "workload too big": lambda: synthesize(domain=write("big.json", '{"age": 40000, "sex": 40000, "pay": 2}')),
    "person column": lambda: synthesize("--person-column", "who"),
    "rows per person": lambda: synthesize("--max-rows-per-person", "3"),
    "out is a file": lambda: synthesize(out="people.csv"),
    "out in a file": lambda: synthesize(out="people.csv/out"),
    "missing spec": lambda: cli.main(["run", "nowhere.json", "--out", "out"]),
    "bad spec": lambda: cli.main(["run", write("s.json", '{"version": 1}'), "--out", "out"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(mistake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert MISTAKES[mistake]() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert not list(Path().rglob("release.json"))


def test_a_failure_shows_no_text_of_the_exception(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(*_: object) -> None:
        raise ValueError("canary: Ms Smith")

    monkeypatch.setattr(synthesis, "synthesize", failing)
    assert synthesize() == 1
    err = capsys.readouterr().err
    assert "ValueError" in err
    assert "canary" not in err


def test_control_characters_of_a_column_name_never_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").write_text("a\x1b[31m,b\n0,1\n1,0\n")
    Path("domain.json").write_text(json.dumps({"a\x1b[31m": 2, "b": 2}))
    synthesize()
    assert "\x1b" not in capsys.readouterr().err


def test_how_the_table_is_written_is_stated_or_said_to_be_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize() == 0
    said = capsys.readouterr().err
    assert "assumed, for your eyes only: encoding utf-8, fields separated by comma, quotes end with their line, missing is" in said
    rows = Path("people.csv").read_text().replace(",", ";").replace("m;", "é;")
    Path("other.csv").write_bytes(rows.encode("cp1252"))
    Path("other.json").write_text(json.dumps(DOMAIN).replace('"m"', '"é"'))
    stated = ["--encoding", "cp1252", "--delimiter", "semicolon", "--quoting", "none", "--missing", "", "--missing", "-9"]
    assert synthesize(*stated, "--seed", "1", data="other.csv", domain="other.json") == 0
    assert "assumed" not in capsys.readouterr().err
    assert set(pd.read_csv("out/synthetic.csv")["sex"]) == {"f", "é"}
    assert release()["spec"]["data"] == {"path": "other.csv", "kind": "csv"}


def test_one_persons_bytes_change_nothing_that_is_published_without_noise() -> None:
    """The letters of one person once decided on an encoding, which was published and hashed."""
    content, published = Path("people.csv").read_bytes(), []
    for letter in (b"\xc3\xa9", b"\xe9", b"\x81", b'"', b"\0"):
        noted = content.replace(b"age,", b"note,age,").replace(b"\n", b"\nx,").removesuffix(b"x,")
        Path("people.csv").write_bytes(noted + letter + b",5,f,1\n")
        assert synthesize("--mechanism", "independent", "--relation", "replace") == 0
        said = release()
        published.append((said["spec"], said["spec_sha256"], said["rows"]["count"]))
    assert all(one == published[0] for one in published)


def test_what_cannot_be_read_is_said_before_the_charge_and_in_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("people.csv").open("a") as table:
        table.write('7,f\n"8,f,1\n\n')
    assert synthesize("--population", "people") == 0
    lines = capsys.readouterr().err.splitlines()
    (warning,) = [number for number, line in enumerate(lines) if "3 lines are malformed (1 of them blank)" in line]
    assert warning < next(number for number, line in enumerate(lines) if line.startswith(("round", "counting")))
    assert not any("malformed" in path.read_text() for path in Path("out").glob("*.json"))


def test_a_table_that_is_damaged_far_down_is_refused_before_the_charge(capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv("people.csv").to_parquet("people.parquet", compression="snappy")
    content = bytearray(Path("people.parquet").read_bytes())
    content[300:700] = b"\xff" * 400
    Path("people.parquet").write_bytes(bytes(content))
    assert synthesize("--population", "people", data="people.parquet") == 2
    assert capsys.readouterr().err.startswith("error: data: the file is damaged")
    assert chain.entries() == ()


def test_the_ledger_is_used_only_when_asked(place: Path) -> None:
    assert synthesize() == 0
    assert not (place / "home").exists()
    assert synthesize("--population", "people") == 0
    kinds = [entry.kind for entry in chain.entries()]
    assert kinds == ["population", "reserve", "touch"]
    entry = chain.entries()[1]
    assert entry.spec == release()["spec_sha256"]
    assert release()["ledger"]["hash"] == entry.hash
    assert release()["spec"]["population"] == "people"
    assert ledger.spent("people").rho == pytest.approx(release()["budget"]["rho"])


def test_the_ledgers_cap_holds_here_too(capsys: pytest.CaptureFixture[str]) -> None:
    ledger.open_population("local", "people", (1.2, 1e-9))
    assert synthesize("--population", "people") == 0
    capsys.readouterr()
    assert synthesize("--population", "people", out="second") == 2
    assert "above its cap" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("second/release.json").exists()


def test_a_mistake_charges_nothing() -> None:
    assert synthesize("--population", "people", "--rows", "0") == 2
    assert synthesize("--population", "people", out="people.csv") == 2
    assert chain.entries() == ()


def test_a_failure_before_reading_gives_the_charge_back_and_one_after_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(synthesis, "noise_for", failing)
        assert synthesize("--population", "people") == 1
    assert ledger.spent("people").rho == 0
    monkeypatch.setattr(synthesis, "open_source", failing)
    assert synthesize("--population", "people") == 1
    assert ledger.spent("people").rho > 0


def start(*extra: str) -> subprocess.Popen[str]:
    """A run that is charged, with the signals of a shell, whatever ours are."""
    given = ["people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", "all-2way", *extra]
    command = [sys.executable, "-m", "dpsynth_core", "synthesize", "--population", "people", *given]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=usual_signals)


def usual_signals() -> None:
    for number in interrupts.SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def said(process: subprocess.Popen[str], beginning: str) -> bool:
    """Wait for a line of its stderr; False if it ended without."""
    assert process.stderr is not None
    return any(line.startswith(beginning) for line in iter(process.stderr.readline, ""))


def handles(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Whether the process has a handler for this signal, as the kernel tells it."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return bool(int(status["SigCgt"], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("counting", signal.SIGINT),
        ("round 0", signal.SIGTERM),
        ("round 1", signal.SIGINT),
        ("round 1", signal.SIGHUP),
        ("writing", signal.SIGTERM),
        ("measuring", signal.SIGINT),
    ],
)
def test_a_signal_after_any_line_ends_the_run_in_order_and_is_never_dropped(line: str, number: signal.Signals) -> None:
    """A check follows each line, so that the run ends there, charged; only after the last lines may the signal come too late for it."""
    process = start("--set", "rounds_per_attribute=40")
    assert said(process, line)
    process.send_signal(number)
    rest = process.communicate(timeout=60)[1]
    assert "Traceback" not in rest
    if process.returncode == 0 and line in ("writing", "measuring"):
        assert unpack.read(Path("out/release.zip"))
    else:
        assert process.returncode == cli.INTERRUPTED
        assert rest.splitlines()[-1].startswith("error: interrupted")
        assert not list(Path("out").iterdir())
    assert chain.verify().ok
    assert ledger.spent("people").rho > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_imports_ends_at_once_without_a_traceback(number: signal.Signals) -> None:
    process = start()
    while not handles(process, signal.SIGTERM):  # Python itself has none for this one
        assert process.poll() is None
    process.send_signal(number)
    assert process.communicate(timeout=60)[1] == "error: interrupted\n"
    assert process.returncode == cli.INTERRUPTED
    assert chain.entries() == ()


def test_a_second_signal_ends_at_once() -> None:
    """The first is noted; the next ends the process wherever it is, here before the step after the line is through."""
    process = start("--set", "rounds_per_attribute=100")
    assert said(process, "round 1")
    process.send_signal(signal.SIGTERM)
    assert said(process, "interrupted: ending after this step")
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == cli.INTERRUPTED
    assert ledger.spent("people").rho > 0


def test_a_killed_run_stays_charged() -> None:
    process = start("--set", "rounds_per_attribute=100")
    assert said(process, "round")
    process.kill()
    assert process.wait(30) == -signal.SIGKILL
    assert not Path("out/release.json").exists()
    assert ledger.spent("people").rho > 0


def test_the_command_line_starts_without_the_app() -> None:
    """A whole synthesis imports neither Streamlit nor OR-tools, and a mistake is found before NumPy is."""
    code = (
        "import sys; from dpsynth_core import cli; assert 'numpy' not in sys.modules;"
        "status = cli.main(sys.argv[1:]); sys.exit(status or 10 * bool({'streamlit', 'ortools', 'altair'} & set(sys.modules)))"
    )
    arguments = ["synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", "all-1way"]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True).returncode == 0


# Bundles


def test_a_release_can_be_verified_and_reproduced_from_its_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent") == 0
    capsys.readouterr()
    assert cli.main(["verify", "out/release.zip"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("sound")
    assert sum(line.startswith("passed: ") for line in lines) >= 12
    assert cli.main(["reproduce", "out/release.zip", "--out", "again"]) == 0
    assert Path("again/synthetic.csv").read_bytes() == Path("out/synthetic.csv").read_bytes()
    assert "to the last bit" in capsys.readouterr().err


def test_a_bundle_that_could_not_be_checked_to_the_end_ends_with_four(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent") == 0
    with zipfile.ZipFile("out/release.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != "MANIFEST.json"} | {"notes.txt": b"x"}
    Path("forged.zip").write_bytes(pack.zipped(files | {"MANIFEST.json": pack.manifest(files)}))
    capsys.readouterr()
    assert cli.main(["verify", "forged.zip"]) == 4
    assert capsys.readouterr().out.splitlines()[-1] == "sound as far as checked; not checked: Do report, cards and tables agree?"


def verify_in_a_terminal(stdout: Any, encoding: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "dpsynth_core", "verify", "out/release.zip"]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, env=environment, check=False)


def test_a_terminal_that_cannot_show_a_letter_is_no_verdict() -> None:
    assert synthesize("--mechanism", "independent") == 0
    done = verify_in_a_terminal(subprocess.PIPE, "ascii")
    assert done.returncode == 0
    assert b"sound: nothing" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_behind_the_output_is_no_verdict() -> None:
    assert synthesize("--mechanism", "independent") == 0
    with Path("/dev/full").open("wb") as full:
        done = verify_in_a_terminal(full, "utf-8")
    assert done.returncode == 5
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("options", [("--memory", "0"), ("--seconds", "soon"), ("--memory", "1e400")])
def test_limits_are_whole_numbers(options: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "out/release.zip", *options]) == 2
    assert options[0] in capsys.readouterr().err


def test_a_bundle_that_is_not_sound_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--seed", "1") == 0
    assert cli.main(["verify", "out/release.zip"]) == 1
    assert "NOT SOUND" in capsys.readouterr().out
    shutil.unpack_archive("out/release.zip", "folder")
    rows = Path("folder/synthetic.csv").read_text().splitlines(keepends=True)
    Path("folder/synthetic.csv").write_text("".join([*rows[:-1], rows[1]]))
    assert cli.main(["verify", "folder"]) == 1
    assert cli.main(["reproduce", "folder", "--out", "again"]) == 1
    assert "not the same: rows" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["verify", "people.csv"], ["verify", "nowhere.zip"], ["reproduce", "people.csv", "--out", "again"]])
def test_what_is_no_bundle_is_bad_input(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
