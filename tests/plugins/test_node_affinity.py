"""NodeAffinity."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.api.objects import NodeAffinity as NodeAffinitySpec
from scheduler.config.args.node_affinity import NodeAffinityArgs
from scheduler.framework.events import QueueingHint
from scheduler.framework.interface import NodeNames
from scheduler.framework.status import SKIP, Code, PluginError, unresolvable
from scheduler.plugins.node_affinity import NodeAffinity, make
from tests.builders import NodeBuilder, PodBuilder, expression, info, node, pod, state, term
from tests.plugins.harness import cycle_of, events, final_scores, handle, raw_scores, verdicts

PLAIN = NodeAffinity(None, None)
REFUSED = unresolvable("node(s) didn't match Pod's node affinity/selector")
ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity")

SSD = term(expression("disk", "In", "ssd"))
BROKEN = term(expression("disk", "In", "-not a label value"))


def named(*names: str, operator: str = "In") -> dict:
    return term(fields=[expression("metadata.name", operator, *names)])


def fields(of: dict) -> dict:
    return {"matchFields": of["matchFields"]}


def with_added(required: list | None = None, preferred: list | None = None) -> NodeAffinity:
    document = {}
    if required is not None:
        document["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": required}
    if preferred is not None:
        document["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    args = NodeAffinityArgs(added_affinity=msgspec.convert(document, NodeAffinitySpec))
    return make(args, handle(state()))


class TestPreFilter:
    CLUSTER = state([node("n1"), node("n2")])

    def test_pods_without_required_affinity_are_skipped(self):
        assert PLAIN.pre_filter(cycle_of(self.CLUSTER, pod("p").prefers_node(1, SSD))) is SKIP

    def test_not_where_the_profile_adds_affinity(self):
        assert with_added([SSD]).pre_filter(cycle_of(self.CLUSTER, pod("p"))) is None

    @pytest.mark.parametrize(
        ("terms", "answer"),
        [
            ([SSD], None),
            ([], None),
            ([named("n1")], NodeNames(frozenset({"n1"}))),
            ([named("n1"), named("n2")], NodeNames(frozenset({"n1", "n2"}))),
            ([named("n1"), SSD], None),
            ([{**SSD, **fields(named("n2"))}], NodeNames(frozenset({"n2"}))),
            ([named("n1", operator="NotIn")], None),
            (
                [term(fields=[expression("metadata.name", "In", name) for name in ("n1", "n2")])],
                unresolvable("pod affinity terms conflict"),
            ),
        ],
        ids=["labels", "no term", "a name", "a name a term", "one term without", "both", "NotIn", "conflict"],
    )
    def test_names_in_every_term_restrict_the_nodes(self, terms, answer):
        assert PLAIN.pre_filter(cycle_of(self.CLUSTER, pod("p").requires_node(*terms))) == answer


NODES = [
    node("bare"),
    node("ssd").label(disk="ssd", cores="16"),
    node("hdd").label(disk="hdd", cores="4"),
    node("odd").label(disk="", cores="many"),
]


def fitting(incoming: PodBuilder, plugin: NodeAffinity = PLAIN) -> set[str]:
    cycle = cycle_of(state(NODES), incoming)
    return {name for name, status in verdicts(plugin, cycle).items() if status is None}


class TestFilter:
    @pytest.mark.parametrize(
        ("requirement", "matching"),
        [
            (expression("disk", "In", "ssd", "nvme"), {"ssd"}),
            (expression("disk", "In", ""), {"odd"}),
            (expression("disk", "NotIn", "ssd"), {"bare", "hdd", "odd"}),
            (expression("disk", "Exists"), {"ssd", "hdd", "odd"}),
            (expression("disk", "DoesNotExist"), {"bare"}),
            (expression("cores", "Gt", "4"), {"ssd"}),
            (expression("cores", "Lt", "16"), {"hdd"}),
        ],
        ids=lambda value: value["operator"] if isinstance(value, dict) else "",
    )
    def test_operators(self, requirement, matching):
        assert fitting(pod("p").requires_node(term(requirement))) == matching

    @pytest.mark.parametrize(
        ("terms", "matching"),
        [
            ([SSD, named("bare")], {"ssd", "bare"}),
            ([term(expression("disk", "Exists"), expression("cores", "Gt", "4"))], {"ssd"}),
            (
                [term(expression("disk", "Exists"), fields=[expression("metadata.name", "NotIn", "ssd")])],
                {"hdd", "odd"},
            ),
            ([named("gone")], set()),
            ([named("gone", operator="NotIn")], {"bare", "ssd", "hdd", "odd"}),
            ([term()], set()),
            ([], set()),
            ([BROKEN], set()),
            ([BROKEN, SSD], {"ssd"}),
        ],
        ids=[
            "terms are ORed",
            "expressions are ANDed",
            "fields and expressions are ANDed",
            "a missing name",
            "not a missing name",
            "an empty term",
            "no terms",
            "a term that does not parse",
            "beside one that does",
        ],
    )
    def test_terms(self, terms, matching):
        assert fitting(pod("p").requires_node(*terms)) == matching

    def test_node_selector_and_affinity_must_both_match(self):
        wanted = pod("p").node_selector(disk="ssd")
        assert fitting(wanted) == {"ssd"}
        assert fitting(wanted.requires_node(term(expression("cores", "Lt", "16")))) == set()

    def test_the_reason(self):
        cycle = cycle_of(state([node("n")]), pod("p").node_selector(disk="ssd"))
        assert verdicts(PLAIN, cycle) == {"n": REFUSED}

    def test_the_profiles_affinity_comes_first_and_has_its_own_reason(self):
        plugin = with_added([term(expression("pool", "Exists"))])
        nodes = [node("out"), node("in").label(pool="a"), node("both").label(pool="a", disk="ssd")]
        cycle = cycle_of(state(nodes), pod("p").node_selector(disk="ssd"))
        assert verdicts(plugin, cycle) == {"out": ENFORCED, "in": REFUSED, "both": None}

    def test_labels_that_come_later_are_seen(self):
        cluster = state([node("n")])
        cycle = cycle_of(cluster, pod("p").node_selector(disk="ssd"))
        assert verdicts(PLAIN, cycle) == {"n": REFUSED}
        cluster.set_node(node("n").label(disk="ssd").build())
        assert verdicts(PLAIN, cycle) == {"n": None}


class TestScore:
    def test_weights_of_matching_terms_add_up(self):
        wanted = pod("p").prefers_node(80, SSD).prefers_node(5, term(expression("cores", "Exists")))
        assert raw_scores(PLAIN, cycle_of(state(NODES), wanted)) == {"bare": 0, "ssd": 85, "hdd": 5, "odd": 5}

    def test_the_best_node_gets_100_and_the_others_their_share(self):
        wanted = pod("p").prefers_node(80, term(expression("z", "In", "a"))).prefers_node(30, named("b"))
        cycle = cycle_of(state([node("a").label(z="a"), node("b"), node("c")]), wanted)
        assert final_scores(PLAIN, cycle) == {"a": 100, "b": 37, "c": 0}

    def test_no_match_at_all_stays_0(self):
        cycle = cycle_of(state([node("a"), node("b")]), pod("p").prefers_node(80, SSD))
        assert final_scores(PLAIN, cycle) == {"a": 0, "b": 0}

    def test_empty_terms_and_terms_without_weight_are_passed_over(self):
        cycle = cycle_of(state([node("a")]), pod("p").prefers_node(5, term()).prefers_node(0, BROKEN))
        assert PLAIN.pre_score(cycle, cycle.nodes) is None
        assert raw_scores(PLAIN, cycle) == {"a": 0}

    def test_pods_that_prefer_nothing_are_skipped(self):
        cycle = cycle_of(state([node("a")]), pod("p").requires_node(SSD))
        assert PLAIN.pre_score(cycle, cycle.nodes) is SKIP

    def test_the_profiles_preferences_are_added_to_the_pods(self):
        plugin = with_added(preferred=[{"weight": 10, "preference": SSD}])
        plain = cycle_of(state(NODES), pod("p"))
        assert plugin.pre_score(plain, plain.nodes) is None
        assert raw_scores(plugin, plain) == {"bare": 0, "ssd": 10, "hdd": 0, "odd": 0}
        picky = cycle_of(state(NODES), pod("p").prefers_node(3, term(expression("disk", "Exists"))))
        assert raw_scores(plugin, picky) == {"bare": 0, "ssd": 13, "hdd": 3, "odd": 3}

    def test_a_preferred_term_that_does_not_parse_fails_the_attempt(self):
        cycle = cycle_of(state([node("a")]), pod("p").prefers_node(1, BROKEN))
        answer = PLAIN.pre_score(cycle, cycle.nodes)
        assert answer is not None
        assert answer.code is Code.ERROR
        assert "-not a label value" in answer.message
        with pytest.raises(PluginError, match="-not a label value"):
            PLAIN.score(cycle, cycle.nodes)

    def test_scores_do_not_need_pre_score(self):
        assert raw_scores(PLAIN, cycle_of(state([node("n").label(disk="ssd")]), pod("p").prefers_node(7, SSD))) == {
            "n": 7
        }


class TestArguments:
    def test_added_affinity_must_parse(self):
        at = "parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution"
        with pytest.raises(ValueError, match=at):
            with_added([BROKEN])
        at = "parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution"
        with pytest.raises(ValueError, match=at):
            with_added(preferred=[{"weight": 1, "preference": BROKEN}])


class TestHints:
    def test_events(self):
        assert events(PLAIN.events_to_register()) == {"Node ADD|UPDATE_NODE_LABEL": "after_node_change"}

    @staticmethod
    def hint(
        old: NodeBuilder | None, new: NodeBuilder, waiting: PodBuilder, plugin: NodeAffinity = PLAIN
    ) -> QueueingHint:
        return plugin.after_node_change(info(waiting), old and old.build(), new.build())

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            (None, node("n").label(disk="ssd"), QueueingHint.QUEUE),
            (None, node("n"), QueueingHint.SKIP),
            (node("n"), node("n").label(disk="ssd"), QueueingHint.QUEUE),
            (node("n").label(disk="ssd"), node("n").label(disk="ssd", x="y"), QueueingHint.SKIP),
            (node("n").label(disk="ssd"), node("n"), QueueingHint.SKIP),
        ],
        ids=["new and matching", "new", "matches now", "matched before", "no longer matches"],
    )
    def test_a_node_that_comes_to_match_helps(self, old, new, expected):
        assert self.hint(old, new, pod("p").node_selector(disk="ssd")) is expected

    def test_a_node_outside_the_profiles_affinity_does_not(self):
        waiting = pod("p").node_selector(disk="ssd")
        assert self.hint(None, node("n").label(disk="ssd"), waiting, with_added([named("m")])) is QueueingHint.SKIP

    def test_terms_that_do_not_parse_leave_it_to_another_try(self):
        assert self.hint(None, node("n"), pod("p").requires_node(BROKEN)) is QueueingHint.QUEUE
        selective = pod("p").requires_node(BROKEN).node_selector(disk="ssd")
        assert self.hint(None, node("n"), selective) is QueueingHint.SKIP
