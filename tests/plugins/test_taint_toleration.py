"""TaintToleration."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.framework.events import QueueingHint
from scheduler.framework.status import PluginError, unresolvable
from scheduler.plugins.taint_toleration import TaintToleration, make
from tests.builders import NodeBuilder, PodBuilder, info, node, pod, state
from tests.plugins.harness import cycle_of, events, final_scores, handle, raw_scores, verdicts

PLUGIN = TaintToleration()
REFUSED = unresolvable("node(s) had untolerated taint(s)")


def scored(nodes: list[NodeBuilder], incoming: PodBuilder) -> dict[str, int]:
    cycle = cycle_of(state(nodes), incoming)
    assert PLUGIN.pre_score(cycle, cycle.nodes) is None
    return final_scores(PLUGIN, cycle)


class TestFilter:
    @pytest.mark.parametrize(
        ("tainted", "incoming", "verdict"),
        [
            (node("n"), pod("a"), None),
            (node("n").taint("k", "v"), pod("a"), REFUSED),
            (node("n").taint("k", "v", "NoExecute"), pod("a"), REFUSED),
            (node("n").taint("k", "v", "PreferNoSchedule"), pod("a"), None),
            (node("n").taint("k", "v"), pod("a").tolerates("k", value="v"), None),
            (node("n").taint("k", "v"), pod("a").tolerates("k", value="w"), REFUSED),
            (node("n").taint("k", "v"), pod("a").tolerates("k", operator="Exists", effect="NoExecute"), REFUSED),
            (node("n").taint("k", "v"), pod("a").tolerates(), None),
            (node("n").taint("k").taint("l"), pod("a").tolerates("k"), REFUSED),
            (node("n").taint("k").taint("l"), pod("a").tolerates("k").tolerates("l"), None),
            (node("n").taint("k", "5"), pod("a").tolerates("k", operator="Gt", value="3"), REFUSED),
            (node("n").taint("k", "5"), pod("a").tolerates("k", operator="Lt", value="9"), REFUSED),
            (
                node("n").taint("k", "v"),
                pod("a").tolerates("k", value="v").tolerates("l", operator="Gt", value="3"),
                None,
            ),
            (
                node("n").taint("k", "v").taint("l", "5"),
                pod("a").tolerates("k", value="v").tolerates("l", operator="Gt", value="3"),
                REFUSED,
            ),
            (node("n").taint("k", "v"), pod("a").tolerates("k", operator="Exists", effect="NoSchedule"), None),
            (node("n").taint("k", "v"), pod("a").tolerates("k", value="v", effect="NoSchedule"), None),
            (node("n").taint("k", "v"), pod("a").tolerates("k", value="v", effect="PreferNoSchedule"), REFUSED),
            (
                node("n").taint("k", "v").taint("l", "w"),
                pod("a").tolerates("k", value="v", effect="NoSchedule").tolerates("l", effect="NoSchedule"),
                None,
            ),
            (node("n").taint("k", "v", "PreferNoSchedule"), pod("a").tolerates("k", value="w"), None),
        ],
        ids=[
            "no taint",
            "NoSchedule",
            "NoExecute",
            "a soft taint",
            "equal value",
            "other value",
            "other effect",
            "everything tolerated",
            "one of two tolerated",
            "both tolerated",
            "comparison operators are off",
            "both of them",
            "and do not matter beside one that is honoured",
            "but do where they are needed",
            "any value",
            "equal value and effect",
            "equal value but a soft effect",
            "each by its own toleration",
            "a soft taint of another value",
        ],
    )
    def test_untolerated_taints_keep_pods_off(self, tainted, incoming, verdict):
        assert verdicts(PLUGIN, cycle_of(state([tainted]), incoming)) == {"n": verdict}

    def test_with_the_gate_for_it_tolerations_may_compare(self):
        plugin = make(None, handle(state(), gates={"TaintTolerationComparisonOperators": True}))
        nodes = [node("low").taint("sla", "3"), node("high").taint("sla", "12"), node("odd").taint("sla", "x")]
        above = pod("a").tolerates("sla", operator="Gt", value="9")
        assert verdicts(plugin, cycle_of(state(nodes), above)) == {"low": REFUSED, "high": None, "odd": REFUSED}
        below = pod("a").tolerates("sla", operator="Lt", value="9")
        assert verdicts(plugin, cycle_of(state(nodes), below)) == {"low": None, "high": REFUSED, "odd": REFUSED}


class TestScore:
    def test_the_fewer_soft_taints_the_better(self):
        soft = "PreferNoSchedule"
        nodes = [
            node("none"),
            node("one").taint("a", effect=soft),
            node("three").taint("a", effect=soft).taint("b", effect=soft).taint("c", effect=soft),
        ]
        assert scored(nodes, pod("p")) == {"none": 100, "one": 67, "three": 0}

    def test_without_soft_taints_every_node_gets_100(self):
        assert scored([node("a"), node("b").taint("x")], pod("p")) == {"a": 100, "b": 100}

    def test_tolerations_for_other_effects_do_not_count(self):
        nodes = [node("clean"), node("soft").taint("k", effect="PreferNoSchedule")]
        assert scored(nodes, pod("p").tolerates("k", effect="NoSchedule")) == {"clean": 100, "soft": 0}
        assert scored(nodes, pod("p").tolerates("k", effect="PreferNoSchedule")) == {"clean": 100, "soft": 100}
        assert scored(nodes, pod("p").tolerates("k")) == {"clean": 100, "soft": 100}

    SOFT = "PreferNoSchedule"

    def test_a_soft_taint_of_another_value_counts(self):
        nodes = [node("same").taint("k", "v", self.SOFT), node("other").taint("k", "w", self.SOFT)]
        assert scored(nodes, pod("p").tolerates("k", value="v", effect=self.SOFT)) == {"same": 100, "other": 0}

    def test_tolerated_taints_do_not_count_however_many(self):
        nodes = [node("none"), node("one").taint("k", "v", self.SOFT)]
        nodes.append(node("two").taint("k", "v", self.SOFT).taint("l", "w", self.SOFT))
        picky = pod("p").tolerates("k", value="v", effect=self.SOFT)
        assert scored(nodes, picky.tolerates("l", value="w", effect=self.SOFT)) == dict.fromkeys(
            ("none", "one", "two"), 100
        )
        assert scored(nodes, pod("p").tolerates("x", value="v", effect=self.SOFT)) == {"none": 100, "one": 50, "two": 0}
        assert scored(nodes[:2], pod("p")) == {"none": 100, "one": 0}

    def test_hard_taints_do_not_count(self):
        nodes = [node("none"), node("hard").taint("k", "v")]
        nodes.append(node("soft").taint("k", "v", self.SOFT).taint("l", "w", self.SOFT))
        hard = pod("p").tolerates("k", value="v", effect="NoSchedule").tolerates("l", value="w", effect="NoSchedule")
        assert scored(nodes, hard) == {"none": 100, "hard": 100, "soft": 0}

    def test_scoring_fails_where_pre_score_is_disabled(self):
        with pytest.raises(PluginError, match='failed to read "PreScoreTaintToleration" from cycleState: not found'):
            raw_scores(PLUGIN, cycle_of(state([node("n")]), pod("p")))


class TestHints:
    def test_events(self):
        assert events(PLUGIN.events_to_register()) == {
            "Node ADD|UPDATE_NODE_TAINT": "after_node_change",
            "TargetPod UPDATE_POD_TOLERATION": "after_toleration_change",
        }

    @pytest.mark.parametrize(
        ("old", "new", "hint"),
        [
            (None, node("n"), QueueingHint.QUEUE),
            (None, node("n").taint("x"), QueueingHint.SKIP),
            (None, node("n").taint("ok"), QueueingHint.QUEUE),
            (node("n").taint("x"), node("n"), QueueingHint.QUEUE),
            (node("n").taint("x"), node("n").taint("y"), QueueingHint.SKIP),
            (node("n").taint("ok"), node("n"), QueueingHint.SKIP),
            (node("n"), node("n").taint("x"), QueueingHint.SKIP),
            (node("n").taint("x"), node("n").taint("x").taint("y"), QueueingHint.SKIP),
            (node("n").taint("x"), node("n").taint("ok"), QueueingHint.QUEUE),
        ],
        ids=[
            "new",
            "new, forbidden",
            "new, tolerated",
            "freed",
            "still forbidden",
            "was allowed before",
            "forbidden",
            "forbidden twice",
            "the taint becomes one that is tolerated",
        ],
    )
    def test_node_change(self, old, new, hint):
        waiting = info(pod("a").tolerates("ok"))
        assert PLUGIN.after_node_change(waiting, old and old.build(), new.build()) is hint

    def test_any_new_toleration_may_help(self):
        old, new = info(pod("a")), info(pod("a").tolerates("x"))
        assert PLUGIN.after_toleration_change(old, old, new) is QueueingHint.QUEUE


EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
taints = st.lists(st.tuples(st.sampled_from("kl"), st.sampled_from(["", "v"]), st.sampled_from(EFFECTS)), max_size=3)
tolerations = st.lists(
    st.tuples(
        st.sampled_from(["", "k", "l"]),
        st.sampled_from(["Exists", "Equal", "", "Gt"]),
        st.sampled_from(["", "v"]),
        st.sampled_from(["", *EFFECTS]),
    ),
    max_size=3,
)


def covers(toleration: tuple[str, str, str, str], taint: tuple[str, str, str]) -> bool:
    key, operator, value, effect = toleration
    if effect not in ("", taint[2]) or key not in ("", taint[0]):
        return False
    return operator == "Exists" or (operator in ("", "Equal") and value == taint[1])


@settings(max_examples=150, deadline=None)
@given(taint_lists=st.lists(taints, min_size=1, max_size=6), tolerated=tolerations)
def test_vectors_agree_with_one_node_at_a_time(taint_lists, tolerated):
    nodes = []
    for number, taint_list in enumerate(taint_lists):
        each = node(f"n{number}")
        for key, value, effect in taint_list:
            each = each.taint(key, value, effect)
        nodes.append(each)
    wanted = [{"key": k, "operator": o, "value": v, "effect": e} for k, o, v, e in tolerated]
    cycle = cycle_of(state(nodes), pod("p").set("spec.tolerations", wanted))
    PLUGIN.pre_score(cycle, cycle.nodes)
    soft = [toleration for toleration in tolerated if toleration[3] in ("", "PreferNoSchedule")]
    forbidden, disliked = {}, {}
    for number, taint_list in enumerate(taint_lists):
        hard = [taint for taint in taint_list if taint[2] != "PreferNoSchedule"]
        forbidden[f"n{number}"] = any(not any(covers(t, taint) for t in tolerated) for taint in hard)
        disliked[f"n{number}"] = sum(
            taint[2] == "PreferNoSchedule" and not any(covers(t, taint) for t in soft) for taint in taint_list
        )
    assert {name: status is not None for name, status in verdicts(PLUGIN, cycle).items()} == forbidden
    assert raw_scores(PLUGIN, cycle) == disliked
