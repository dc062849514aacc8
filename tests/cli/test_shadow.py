"""`berth shadow`'s command line; what it does is tested on a real cluster."""

from __future__ import annotations

import pytest

from scheduler.cli.main import main


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--decisions", "0"], "argument --decisions: '0' is no number from 1 up"),
        (["--decisions", "x"], "argument --decisions"),
        (["--fail-below", "101"], "argument --fail-below"),
        (["--for", "soon"], "argument --for"),
        (["-o", "yaml"], "argument -o/--output: invalid choice"),
    ],
)
def test_flags_that_make_no_sense(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["shadow", *flags])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_profile_that_the_configuration_does_not_have(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert main(["shadow", "--config", str(file), "--scheduler-name", "nobody"]) == 2
    assert "--scheduler-name nobody: the configuration has no such profile; it has default-scheduler" in (
        capsys.readouterr().err
    )


def test_a_port_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shadow", "--secure-port", "99999"]) == 2
    assert "--secure-port 99999 must be between 0 and 65535" in capsys.readouterr().err


def test_gates_are_warned_of_before_anything_is_read(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    assert main(["shadow", "--feature-gates=DRAAdminAccess=true", "--kubeconfig", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith("berth: warning: setting GA feature gate.")


def test_the_kubeconfig_counts_beside_a_configuration_too(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whereas kube-scheduler's flag doesn't: what is observed need not be where the observer's configuration is."""
    file = tmp_path / "config.yaml"
    file.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "clientConnection: {kubeconfig: /in-the-pod/kubeconfig}\n"
    )
    assert main(["shadow", "--config", str(file), "--kubeconfig", str(tmp_path / "nowhere")]) == 2
    assert str(tmp_path / "nowhere") in capsys.readouterr().err


def test_a_context_that_the_kubeconfig_does_not_have(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text("apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n")
    assert main(["shadow", "--kubeconfig", str(file), "--context", "elsewhere"]) == 2
    assert "elsewhere" in capsys.readouterr().err


def test_a_kubeconfig_that_is_not_there(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shadow", "--kubeconfig", str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
