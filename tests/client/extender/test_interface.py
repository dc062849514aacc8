"""An extender over HTTP is an extender."""

from scheduler.client.extender.http import HttpExtender
from scheduler.client.extender.interface import Extender
from scheduler.config.types import Extender as ExtenderConfig


def test_an_http_extender_has_all_that_the_scheduler_asks_for():
    extender = HttpExtender(ExtenderConfig(url_prefix="http://127.0.0.1:1"))
    wanted = {name for name in [*vars(Extender), *Extender.__annotations__] if not name.startswith("_")}
    assert wanted <= set(dir(extender))
    assert {"filter", "prioritize", "bind", "preempt", "interested", "ignorable"} <= wanted
