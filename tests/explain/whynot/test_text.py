"""The five situations that people ask about most, as they read the answer."""

from __future__ import annotations

import io
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from scheduler.explain.grid import show
from scheduler.explain.views import WhyNot
from scheduler.explain.whynot.text import parts
from tests.builders import node, pod, pod_term
from tests.explain.whynot.cluster import Cluster
from tests.plugins.storage import claim, volume

if TYPE_CHECKING:
    from collections.abc import Sequence

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def printed(cluster: Cluster, waiting: Any, *, table: bool = True) -> str:
    """What a pipe gets."""
    return shown(cluster.why_not(waiting), table=table)


def shown(answer: WhyNot, *, table: bool = True) -> str:
    stream = io.StringIO()
    show(stream, parts(answer, table=table))
    return stream.getvalue()


def text(lines: str) -> str:
    return dedent(lines).lstrip("\n")


def filled(*names: str, cpu: str, priority: int = 0) -> Sequence[Any]:
    """A pod on each of these nodes."""
    return [pod(f"on-{name}").cpu(cpu).memory("1Gi").priority(priority).on(name) for name in names]


def test_taint() -> None:
    gpu = [node(f"g{i}").capacity(cpu="8", memory="32Gi").taint("dedicated", "gpu") for i in (1, 2, 3, 4)]
    rest = [node(f"w{i}").capacity(cpu="2", memory="8Gi") for i in (1, 2, 3)]
    cluster = Cluster([*gpu, *rest], filled("w1", "w2", "w3", cpu="1500m", priority=10))
    assert printed(cluster, pod("web-7").cpu("1").memory("1Gi").priority(10)) == text(
        """
        web-7 fits on none of 7 nodes: 4 are tainted dedicated=gpu:NoSchedule, 3 lack CPU.
        w1 comes nearest: it lacks 500m CPU (wants 1, has 500m free).
        CPU is there in sum but in pieces: 3 nodes have 1500m free together, at most 500m on one (w1), and the pod wants 1.

        NODES   TURNED DOWN BY     WHICH                                  NAMES
            4   TaintToleration    are tainted dedicated=gpu:NoSchedule   g1, g2, g3, g4
            3   NodeResourcesFit   lack CPU                               w1, w2, w3

        Any one of these would help
          a toleration for dedicated=gpu:NoSchedule opens 4 nodes (g1, g2, g3, ...)
          500m less CPU (500m instead of 1) fits on w1, w2 or w3
          a priority above 10, which would preempt default/on-w1 on w1, opens w1
          default/on-w1 gone from w1 (1 pod of priority 10) opens w1
          removing the taint dedicated=gpu:NoSchedule from any of 4 nodes (g1, g2, g3, ...)
          one more node like w1
        """  # noqa: E501 (sentences are not wrapped in a pipe)
    )


def test_fragmented_cpu() -> None:
    names = [f"n{i:02}" for i in range(1, 13)]
    nodes = [node(name).capacity(cpu="4", memory="16Gi").label(pool="pool-a") for name in names]
    cluster = Cluster(nodes, filled(*names, cpu="2300m", priority=5))
    assert printed(cluster, pod("web-7").cpu("2").memory("1Gi")) == text(
        """
        web-7 fits on none of 12 nodes: all lack CPU.
        n01 comes nearest: it lacks 300m CPU (wants 2, has 1700m free).
        CPU is there in sum but in pieces: 12 nodes have 20 free together, at most 1700m on one (n01), and the pod wants 2.

        NODES   TURNED DOWN BY     WHICH      NAMES
           12   NodeResourcesFit   lack CPU   n01, n02, n03, n04, n05, n06, and 6 more

        Any one of these would help
          300m less CPU (1700m instead of 2) fits on any of 12 nodes (n01, n02, n03, ...)
          a priority above 5, which would preempt default/on-n01 on n01, opens n01
          default/on-n01 gone from n01 (1 pod of priority 5) opens n01
          one more node like pool-a (such as n01)
        """  # noqa: E501 (sentences are not wrapped in a pipe)
    )


def test_zone_spread() -> None:
    nodes = [node(f"{z}{i}").capacity(cpu="4", memory="16Gi").zone(f"zone-{z}") for z in "abc" for i in (1, 2)]
    there = [pod(f"web-{z}{i}").label(app="web").cpu("500m").on(f"{z}{i}") for z in "ab" for i in (1, 2)]
    cluster = Cluster(nodes, [*there, *filled("c1", "c2", cpu="3800m", priority=100)])
    selector = {"labelSelector": {"matchLabels": {"app": "web"}}}
    waiting = pod("web-7").label(app="web").cpu("500m").spreads(ZONE, **selector)
    assert printed(cluster, waiting) == text(
        """
        web-7 fits on none of 6 nodes: 4 would break the zone spread, 2 lack CPU.
        c1 comes nearest: it lacks 300m CPU (wants 500m, has 200m free).
        zone spread of app=web: zone-a and zone-b have 2 each, zone-c has 0; the minimum is 0, and 2 + 1 - 0 = 3 is more than maxSkew 1; zone-c holds the minimum down but can't take the pod (its nodes lack CPU).

        NODES   TURNED DOWN BY      WHICH                         NAMES
            4   PodTopologySpread   would break the zone spread   a1, a2, b1, b2
            2   NodeResourcesFit    lack CPU                      c1, c2

        topology.kubernetes.io/zone   PODS   NODES   USABLE   SKEW            FITS
        zone-c                           0       2        0   0 + 1 - 0 = 1   yes
        zone-a                           2       2        2   2 + 1 - 0 = 3   no, more than 1
        zone-b                           2       2        2   2 + 1 - 0 = 3   no, more than 1

        Any one of these would help
          maxSkew: 3 instead of 1 on the zone spread opens 4 nodes (a1, a2, b1, ...)
          whenUnsatisfiable: ScheduleAnyway on the zone spread opens 4 nodes (a1, a2, b1, ...)
          a priority above 100, which would preempt default/on-c1 on c1, opens c1
          300m less CPU (200m instead of 500m) fits on c1 or c2
          default/on-c1 gone from c1 (1 pod of priority 100) opens c1
          one more node like c1
        """  # noqa: E501 (sentences are not wrapped in a pipe)
    )


def test_anti_affinity() -> None:
    web = pod("web-4").label(app="web").cpu("100m").requires_pods(pod_term(HOST, {"app": "web"}), anti=True)
    there = [pod(f"web-{i}").label(app="web").cpu("100m").on(f"n{i}") for i in (1, 2, 3)]
    cluster = Cluster([node(f"n{i}").capacity(cpu="4", memory="16Gi") for i in (1, 2, 3)], there)
    assert printed(cluster, web) == text(
        """
        web-4 fits on none of 3 nodes: all have a pod with app=web, which it keeps away from.
        it keeps away from app=web by hostname: default/web-1 on n1, default/web-2 on n2 and default/web-3 on n3.

        NODES   TURNED DOWN BY     WHICH                                               NAMES
            3   InterPodAffinity   have a pod with app=web, which it keeps away from   n1, n2, n3

        Any one of these would help
          anti-affinity to app=web by hostname preferred instead of required opens n1, n2 and n3
          default/web-1 gone from n1 (1 pod of priority 0) opens n1
          one more node like n1
        """
    )


def test_volume_in_another_zone() -> None:
    nodes = [
        node(f"{z}{i}")
        .capacity(cpu="4", memory="16Gi")
        .zone(f"zone-{z}")
        .label({"node.kubernetes.io/instance-type": "m5.xlarge"})
        for z in "ab"
        for i in (1, 2)
    ]
    objects = [volume("pv-1", reserved="data", phase="Bound", labels={ZONE: "zone-a"}), claim("data", volume="pv-1")]
    cluster = Cluster(nodes, filled("a1", "a2", cpu="3800m", priority=1000), objects)
    waiting = pod("db-0").cpu("1").volume("data", persistentVolumeClaim={"claimName": "data"})
    assert printed(cluster, waiting) == text(
        """
        db-0 fits on none of 4 nodes: 2 lack CPU, 2 are outside zone-a, where volume pv-1 of claim data is.
        a1 comes nearest: it lacks 800m CPU (wants 1, has 200m free).
        claim data is bound to volume pv-1, which is in zone-a; the 2 nodes there lack CPU.

        NODES   TURNED DOWN BY     WHICH                                                    NAMES
            2   NodeResourcesFit   lack CPU                                                 a1, a2
            2   VolumeZone         are outside zone-a, where volume pv-1 of claim data is   b1, b2

        Any one of these would help
          moving default/on-a1 from a1 to b1 or b2, where it fits, opens a1
          a priority above 1000, which would preempt default/on-a1 on a1, opens a1
          default/on-a1 gone from a1 (1 pod of priority 1000) opens a1
          one more node like m5.xlarge (such as a1) in zone-a
          800m less CPU (200m instead of 1) fits on a1 or a2
        """
    )


def test_sentences_only() -> None:
    cluster = Cluster([node("n1").taint("x"), node("n2").taint("x")])
    assert printed(cluster, pod("a"), table=False) == text(
        """
        a fits on none of 2 nodes: both are tainted x:NoSchedule.

        Any one of these would help
          a toleration for x:NoSchedule opens n1 and n2
          removing the taint x:NoSchedule from n1 or n2
        """
    )


def test_what_was_not_tried_is_told() -> None:
    answer = WhyNot(sentence="no", not_tried=("extenders were not asked",))
    assert shown(answer) == "no.\n\nThere is nothing to try\n  (extenders were not asked)\n"


def test_how_much_was_tried_in_vain() -> None:
    assert shown(WhyNot(sentence="no", tried=1)).endswith("Nothing of what was tried would help (1 change)\n")
    assert shown(WhyNot(sentence="no", tried=3)).endswith("Nothing of what was tried would help (3 changes)\n")
