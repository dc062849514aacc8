"""What goes wrong before anything runs, by what it means for the exit code of a command."""

from __future__ import annotations

import pytest

from scheduler.app.problems import ManifestError, SettingsError, StartError


def test_settings_that_cannot_be_used_are_one_way_not_to_start() -> None:
    """So that whoever only wants to know whether the process began catches one error."""
    with pytest.raises(StartError, match="kubeconfig x: bad"):
        raise SettingsError("kubeconfig x: bad")


def test_not_every_start_that_fails_is_the_users_fault() -> None:
    """A port in use ends with 1, a bad flag with 2."""
    assert not issubclass(StartError, SettingsError)


def test_a_bad_manifest_is_bad_input_as_any_other_value() -> None:
    """Commands catch ValueError for all that they are given, ConfigError included."""
    assert issubclass(ManifestError, ValueError)
    assert not issubclass(SettingsError, ValueError)


@pytest.mark.parametrize("kind", [StartError, SettingsError, ManifestError])
def test_the_text_is_all_there_is_to_say(kind: type[Exception]) -> None:
    assert str(kind("pods.yaml: document 2: kind: missing")) == "pods.yaml: document 2: kind: missing"
