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
from tests.plugins.harness import cycle_of, events, filtered, final_scores, handle, raw_scores, verdicts

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

    def test_so_are_pods_with_an_affinity_that_requires_nothing(self):
        assert PLAIN.pre_filter(cycle_of(self.CLUSTER, pod("p").set("spec.affinity.nodeAffinity", {}))) is SKIP

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
            ([term(fields=[expression("metadata.name", "In", name) for name in ("n1", "n2")]), SSD], None),
        ],
        ids=[
            "labels",
            "no term",
            "a name",
            "a name a term",
            "one term without",
            "both",
            "NotIn",
            "conflict",
            "conflict beside a term without",
        ],
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
            ([term(expression("disk", "NotIn", "no label value: #"))], set()),
            ([BROKEN, SSD], {"ssd"}),
            ([term(expression("disk", "Exists"), expression("disk", "NotIn", "hdd", "tape"))], {"ssd", "odd"}),
            ([term(expression("disk", "Exists"), expression("disk", "In", "tape"))], set()),
            ([term(expression("disk", "In", "tape"), fields=named("hdd")["matchFields"])], set()),
            ([term(expression("disk", "In", "hdd"), fields=named("ssd")["matchFields"])], set()),
            ([term(expression("disk", "In", "hdd"), fields=named("hdd")["matchFields"])], {"hdd"}),
            ([named("gone"), term(expression("disk", "In", "tape"))], set()),
            ([SSD, term(expression("rack", "In", "r1"))], {"ssd"}),
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
            "nor does one that excludes",
            "beside one that does",
            "two rules on one key",
            "two rules on one key that no node keeps",
            "the name but not the label",
            "the label but not the name",
            "the name and the label",
            "neither the name nor the label",
            "the first of two labels",
        ],
    )
    def test_terms(self, terms, matching):
        assert fitting(pod("p").requires_node(*terms)) == matching

    def test_node_selector_and_affinity_must_both_match(self):
        wanted = pod("p").node_selector(disk="ssd")
        assert fitting(wanted) == {"ssd"}
        assert fitting(wanted.requires_node(term(expression("cores", "Lt", "16")))) == set()
        assert fitting(wanted.requires_node(term(expression("disk", "Exists")))) == {"ssd"}

    def test_all_labels_of_the_node_selector_must_match(self):
        assert fitting(pod("p").node_selector(disk="ssd", cores="16")) == {"ssd"}
        assert fitting(pod("p").node_selector(disk="ssd", rack="r1")) == set()

    def test_numbers_are_compared_by_value(self):
        cycle = cycle_of(
            state([node("newer").label(kernel="0510"), node("older").label(kernel="0418")]),
            pod("p").requires_node(term(expression("kernel", "Gt", "0418"))),
        )
        assert verdicts(PLAIN, cycle) == {"newer": None, "older": REFUSED}

    def test_names_that_conflict_leave_no_node_to_filter_either(self):
        both = term(fields=[expression("metadata.name", "In", name) for name in ("ssd", "hdd")])
        assert set(filtered(PLAIN, cycle_of(state(NODES), pod("p").requires_node(both))).values()) == {REFUSED}

    def test_verdicts_do_not_need_pre_filter(self):
        selecting = pod("p").node_selector(disk="ssd")
        affine = pod("p").requires_node(term(expression("disk", "Exists"), expression("disk", "NotIn", "hdd", "")))
        for incoming in (selecting, affine):
            answers = filtered(PLAIN, cycle_of(state(NODES), incoming))
            assert {name for name, status in answers.items() if status is None} == {"ssd"}

    def test_the_reason(self):
        cycle = cycle_of(state([node("n")]), pod("p").node_selector(disk="ssd"))
        assert verdicts(PLAIN, cycle) == {"n": REFUSED}

    def test_the_profiles_affinity_comes_first_and_has_its_own_reason(self):
        plugin = with_added([term(expression("pool", "Exists"))])
        nodes = [node("out"), node("in").label(pool="a"), node("both").label(pool="a", disk="ssd")]
        cycle = cycle_of(state(nodes), pod("p").node_selector(disk="ssd"))
        assert verdicts(plugin, cycle) == {"out": ENFORCED, "in": REFUSED, "both": None}

    def test_the_profiles_affinity_may_name_nodes(self):
        plugin = with_added([named("hdd")])
        cycle = cycle_of(state(NODES), pod("p").requires_node(term(expression("disk", "In", "hdd"))))
        assert {name for name, status in verdicts(plugin, cycle).items() if status is None} == {"hdd"}
        cycle = cycle_of(state(NODES), pod("p").requires_node(SSD))
        assert verdicts(plugin, cycle) == {"bare": ENFORCED, "ssd": ENFORCED, "hdd": REFUSED, "odd": ENFORCED}

    def test_the_profiles_affinity_holds_for_pods_without_any(self):
        cycle = cycle_of(state([node("in").label(pool="a"), node("out").label(pool="b")]), pod("p"))
        assert verdicts(with_added([term(expression("pool", "In", "a"))]), cycle) == {"in": None, "out": ENFORCED}

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

    @pytest.mark.parametrize("prepared", [True, False], ids=["after PreScore", "without PreScore"])
    def test_terms_of_several_rules_count_only_where_all_hold(self, prepared):
        fast, near = term(expression("disk", "In", "ssd")), term(expression("zone", "In", "a"))
        all_of = term(*fast["matchExpressions"], *near["matchExpressions"], expression("rack", "In", "r1"))
        wanted = pod("p").prefers_node(2, fast).prefers_node(4, near).prefers_node(5, all_of)
        nodes = [node("fast").label(disk="ssd"), node("near").label(zone="a")]
        nodes.append(node("all").label(disk="ssd", zone="a", rack="r1"))
        cycle = cycle_of(state(nodes), wanted)
        if prepared:
            assert PLAIN.pre_score(cycle, cycle.nodes) is None
        assert final_scores(PLAIN, cycle) == {"fast": 18, "near": 36, "all": 100}

    def test_a_pod_that_prefers_nothing_scores_0_without_pre_score(self):
        assert final_scores(PLAIN, cycle_of(state(NODES), pod("p"))) == dict.fromkeys(("bare", "ssd", "hdd", "odd"), 0)

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

    def test_the_sum_of_both_is_what_is_shared_out(self):
        plugin = with_added(preferred=[{"weight": 3, "preference": term(expression("zone", "In", "a"))}])
        nodes = [node("fast").label(disk="ssd"), node("near").label(zone="a"), node("both").label(disk="ssd", zone="a")]
        plain = cycle_of(state(nodes[:2]), pod("p"))
        assert final_scores(plugin, plain) == {"fast": 0, "near": 100}
        picky = cycle_of(state(nodes), pod("p").prefers_node(2, SSD))
        assert final_scores(plugin, picky) == {"fast": 40, "near": 60, "both": 100}

    def test_a_key_that_is_none_is_told_in_kube_schedulers_words(self):
        cycle = cycle_of(state([node("a")]), pod("p").prefers_node(2, term(expression("no key", "In", "ssd"))))
        answer = PLAIN.pre_score(cycle, cycle.nodes)
        assert answer is not None
        assert answer.code is Code.ERROR
        assert answer.message == (
            '[0].matchExpressions[0].key: Invalid value: "no key": name part must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  "
            "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        )

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
            (node("n"), node("n").capacity(cpu="64"), QueueingHint.SKIP),
            (node("n"), node("n").label(rack="r1"), QueueingHint.SKIP),
            (node("n").label(disk="ssd"), node("n").label(disk="ssd").capacity(cpu="64"), QueueingHint.SKIP),
        ],
        ids=[
            "new and matching",
            "new",
            "matches now",
            "matched before",
            "no longer matches",
            "only its size changes",
            "another label comes",
            "only its size changes, and it matched",
        ],
    )
    def test_a_node_that_comes_to_match_helps(self, old, new, expected):
        assert self.hint(old, new, pod("p").node_selector(disk="ssd")) is expected

    def test_a_node_outside_the_profiles_affinity_does_not(self):
        waiting = pod("p").node_selector(disk="ssd")
        assert self.hint(None, node("n").label(disk="ssd"), waiting, with_added([named("m")])) is QueueingHint.SKIP

    def test_a_node_within_both_does(self):
        waiting, plugin = pod("p").node_selector(disk="ssd"), with_added([SSD])
        assert self.hint(None, node("n").label(disk="ssd"), waiting, plugin) is QueueingHint.QUEUE
        assert self.hint(None, node("n"), waiting, plugin) is QueueingHint.SKIP

    def test_terms_that_do_not_parse_leave_it_to_another_try(self):
        assert self.hint(None, node("n"), pod("p").requires_node(BROKEN)) is QueueingHint.QUEUE
        selective = pod("p").requires_node(BROKEN).node_selector(disk="ssd")
        assert self.hint(None, node("n"), selective) is QueueingHint.SKIP
