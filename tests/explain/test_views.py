"""Views are JSON with stable names: what is written can be read back."""

import inspect

import msgspec
import pytest

from scheduler.explain import views

ALL: list[type[views.View]] = [
    item for _, item in inspect.getmembers(views, inspect.isclass) if issubclass(item, views.View)
]


@pytest.mark.parametrize("view", ALL, ids=lambda view: view.__name__)
def test_every_view_has_a_schema(view: type[views.View]) -> None:
    """Its types are known at run time, so that clients can decode it."""
    assert msgspec.json.schema(view)


def test_names_are_in_camel_case_and_defaults_left_out() -> None:
    summary = views.Summary(id=1, time="2026-01-01T00:00:00Z", pod="a/b", result="Unschedulable", nominated_node="n1")
    text = msgspec.json.encode(views.Decision(summary=summary))
    assert msgspec.json.decode(text) == {
        "summary": {
            "id": 1,
            "time": "2026-01-01T00:00:00Z",
            "pod": "a/b",
            "result": "Unschedulable",
            "nominatedNode": "n1",
        }
    }
    assert msgspec.json.decode(text, type=views.Decision) == views.Decision(summary=summary)


def test_all_of_them_go_by_one_name() -> None:
    def below(view: type[views.View]) -> set[type[views.View]]:
        return {view, *(found for each in view.__subclasses__() for found in below(each))}

    own = {view for view in below(views.View) if view.__module__.startswith(views.__name__)}
    assert own == set(ALL)
    assert {view.__name__ for view in ALL} | {"API_VERSION"} == set(views.__all__)


def test_no_two_are_called_the_same() -> None:
    """The description of the API names them by their classes, wherever these are."""
    names = [view.__name__ for view in ALL]
    assert len(names) == len(set(names))
