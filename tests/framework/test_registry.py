"""Plugins of installed packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import msgspec
import pytest

from scheduler.framework.registry import GROUP, arguments, discover
from tests.framework.stubs import Filter

MADE_HERE = "tests.framework.test_registry"


def make_a(args, handle):
    return Filter("A")


def make_another(args, handle):
    return Filter("Another")


def make_nonsense(args, handle):
    return 7


NOT_CALLABLE = 7


def entry(name, value):
    return EntryPoint(name, f"{MADE_HERE}:{value}", GROUP)


def own(args, handle):
    raise AssertionError


def test_plugins_of_packages_join_those_in_tree():
    factories = discover({"Own": own}, [entry("A", "make_a")])
    assert factories["Own"] is own
    assert factories["A"](None, None).name == "A"


def test_installed_packages_are_looked_for():
    assert set(discover({"Own": own})) >= {"Own"}


def test_a_package_is_loaded_only_when_its_plugin_is_made():
    factories = discover({}, [EntryPoint("A", "there_is_no_such_module:make", GROUP)])
    with pytest.raises(ValueError, match=r"A = there_is_no_such_module:make.*can't be loaded: No module named"):
        factories["A"](None, None)


def test_the_name_of_a_plugin_in_tree_is_taken():
    with pytest.raises(ValueError, match=r'"Own = .*plugin "Own" has the name of one of Berth\'s own; rename it'):
        discover({"Own": own}, [entry("Own", "make_a")])


def test_two_plugins_must_not_share_a_name():
    with pytest.raises(ValueError, match=r'plugin "A" is there twice, from .*make_a.* and from .*make_another'):
        discover({}, [entry("A", "make_a"), entry("A", "make_another")])


def test_one_and_the_same_entry_found_twice_is_one_plugin():
    assert list(discover({}, [entry("A", "make_a"), entry("A", "make_a")])) == ["A"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("nothing_here", "can't be loaded: module"),
        ("NOT_CALLABLE", "is not a function that makes the plugin"),
        ("make_nonsense", "made a int, which is no plugin"),
        ("make_another", 'made a plugin that calls itself "Another"'),
    ],
)
def test_what_is_no_factory_of_that_plugin_is_refused(value, problem):
    with pytest.raises(ValueError, match=problem):
        discover({}, [entry("A", value)])["A"](None, None)


class Args(msgspec.Struct, forbid_unknown_fields=True):
    size: int = 3


class TestArguments:
    def test_they_have_the_plugins_type(self):
        assert arguments({"size": 5}, Args) == Args(5)

    def test_without_any_there_are_defaults(self):
        assert arguments(None, Args) == Args(3)

    @pytest.mark.parametrize(
        ("args", "problem"),
        [
            ({"size": "5"}, r"args: Expected `int`, got `str` - at `\$.size`"),
            ({"sice": 5}, "args: Object contains unknown field `sice`"),
            ([], "args: Expected `object`, got `array`"),
        ],
    )
    def test_wrong_ones_are_refused_with_their_place(self, args, problem):
        with pytest.raises(ValueError, match=problem):
            arguments(args, Args)
