"""The corpus: configurations and what kube-scheduler v1.37.2 made of them (see record.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from scheduler.config.features import FeatureGates

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture
def gates():
    return FeatureGates()


@pytest.fixture(scope="session")
def corpus():
    return CORPUS


@pytest.fixture(scope="session")
def gates_of():
    """The feature gates that a configuration of the corpus was recorded with."""

    def read(text):
        given = re.match(r"# feature-gates: (.*)", text)
        return FeatureGates.parse(given[1]) if given else FeatureGates()

    return read


@pytest.fixture(scope="session")
def implements():
    """Which plugin takes part where, as far as the recorded expansions show it: that is all in-tree ones."""
    pairs = set()
    for recorded in CORPUS.glob("accepted/*.plugins.json"):
        for profile in json.loads(recorded.read_text()):
            pairs |= {(plugin, point) for point, plugins in profile.items() for plugin in plugins}
    return lambda plugin, point: (plugin, point) in pairs
