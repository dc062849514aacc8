"""The command line as a whole."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from scheduler.cli.main import COMMANDS, main
from scheduler.version import __version__

HEAVY = ("kubernetes_asyncio", "kopf", "aiohttp", "numpy", "prometheus_client", "cryptography")


def test_help_names_every_command_and_gives_examples(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert all(f"\n    {name} " in text for name in COMMANDS)
    assert "berth simulate -f cluster.yaml" in text
    assert "docs/architecture.md" in text


def test_without_a_command_help_is_shown(capsys):
    assert main([]) == 0
    assert "usage: berth" in capsys.readouterr().out


@pytest.mark.parametrize(("before", "after"), [(None, "1"), ("4", "4")])
def test_numpy_starts_no_threads_unless_the_environment_says_so(before, after, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", before or "")
    if before is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    main([])
    assert os.environ["OPENBLAS_NUM_THREADS"] == after


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"berth {__version__} (decides as kube-scheduler v1.37.2)\n"


@pytest.mark.parametrize("arguments", [["fly"], ["run", "--bogus"], ["run", "--secure-por=1"], ["config", "-o", "xml"]])
def test_what_is_not_understood_ends_with_2_and_a_reason(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def imported(*arguments: str) -> set[str]:
    """The heavy packages that a command line loads, in a process of its own."""
    code = (
        "import sys; from scheduler.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        f"print('loaded:', *[name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("arguments", [["--help"], ["help", "run"], ["version"]])
def test_help_and_version_load_nothing_heavy(arguments):
    assert imported(*arguments) == set()


def test_configuration_and_simulation_load_nothing_that_talks_to_a_cluster():
    for arguments in (["config"], ["simulate", "--jsonl"]):
        assert imported(*arguments).isdisjoint({"kubernetes_asyncio", "kopf", "aiohttp", "cryptography"})


def test_a_reader_that_has_had_enough_is_no_accident():
    code = "import sys; from scheduler.cli.main import main; sys.exit(main(['config', 'features']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


def test_python_m_scheduler_is_the_same_command():
    done = subprocess.run([sys.executable, "-m", "scheduler", "version"], check=True, capture_output=True, text=True)
    assert done.stdout.startswith(f"berth {__version__}, kube-scheduler v1.37.2, Python 3.")
