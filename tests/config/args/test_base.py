from __future__ import annotations

from scheduler.config.args.base import PluginArgs


class MineArgs(PluginArgs, frozen=True, kw_only=True):
    some_size: int = 3


def test_arguments_without_rules_of_their_own_are_valid_as_they_are(gates):
    args = MineArgs(some_size=-1)
    assert args.defaulted(gates) is args
    assert args.validate("args", gates) == []
