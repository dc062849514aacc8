"""What a scheduler runs by, and how that changes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.app.running import FILE, Change, RunningConfiguration
from scheduler.config.errors import ConfigError
from tests.app.running import Live, weights
from tests.builders import node, pod
from tests.cycle.rig import Rig
from tests.framework.stubs import Filter

BERTH = {"schedulerName": "berth"}
NO_SORT = {"queueSort": {"disabled": [{"name": "*"}]}, "multiPoint": {"disabled": [{"name": "PrioritySort"}]}}


def refusal(live: Live, **profile: Any) -> str:
    """Why a profile can't stand in for "berth"."""
    with pytest.raises(ConfigError) as refused:
        live.running.check({**BERTH, **profile})
    return str(refused.value)


class TestOneProfile:
    def test_it_stands_in_for_the_files_and_goes_again(self) -> None:
        live = Live({**BERTH, "plugins": weights(ImageLocality=3)})
        assert live.weight("ImageLocality") == 3
        assert live.running.use({"berth": {**BERTH, "plugins": weights(ImageLocality=8)}}) == Change(("berth",))
        assert live.weight("ImageLocality") == 8
        assert live.running.use({}) == Change(("berth",))
        assert live.weight("ImageLocality") == 3

    def test_it_does_so_as_a_whole(self) -> None:
        live = Live({**BERTH, "plugins": weights(ImageLocality=3)})
        live.running.use({"berth": {**BERTH, "plugins": weights(NodeAffinity=4)}})
        assert (live.weight("ImageLocality"), live.weight("NodeAffinity")) == (1, 4)

    def test_other_profiles_stay_what_they_are(self) -> None:
        live = Live(BERTH, {"schedulerName": "other"})
        other = live.scheduler.profiles["other"]
        live.running.use({"berth": {**BERTH, "plugins": weights(ImageLocality=8)}})
        assert live.scheduler.profiles["other"] is other

    def test_what_amounts_to_the_same_changes_nothing(self) -> None:
        live = Live()
        before = live.scheduler.profiles["berth"]
        assert live.running.use({"berth": BERTH}) == Change()
        assert live.scheduler.profiles["berth"] is before

    async def test_the_next_pod_goes_by_it(self) -> None:
        live = Live()
        live.put(node("n1"), node("n2").taint("slow", effect="PreferNoSchedule"))
        live.put(pod("before").scheduler("berth"))
        await live.run()
        off = {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}
        added = {
            "name": "NodeAffinity",
            "args": {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}
                        ]
                    }
                }
            },
        }
        live.running.use({"berth": {**BERTH, "plugins": off, "pluginConfig": [added]}})
        live.put(pod("after").scheduler("berth"))
        await live.run()
        assert (live.node_of("before"), live.node_of("after")) == ("n1", "n2")

    @pytest.mark.parametrize(
        ("profile", "text"),
        [
            (
                {"plugins": {"score": {"enabled": [{"name": "NodeResourceFit"}]}}},
                'spec.plugins.score.enabled[0].name: Invalid value: "NodeResourceFit": '
                'plugin "NodeResourceFit" does not exist, did you mean "NodeResourcesFit"?',
            ),
            ({"plugin": {}}, 'unknown field "spec.plugin", did you mean "plugins"?'),
            (
                {"percentageOfNodesToScore": 120},
                "spec.percentageOfNodesToScore: Invalid value: 120: not in valid range [0-100]",
            ),
            (
                {"plugins": {"filter": {"enabled": [{"name": "ImageLocality"}]}}},
                'spec.plugins.filter.enabled[0]: plugin "ImageLocality" does not extend FilterPlugin plugin',
            ),
            (
                {"pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 101}}]},
                "spec.pluginConfig[0].args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
            ),
        ],
    )
    def test_what_is_wrong_is_told_with_its_place_in_the_resource(self, profile: dict[str, Any], text: str) -> None:
        live = Live({"schedulerName": "first"}, BERTH)
        before = live.scheduler.profiles["berth"]
        assert refusal(live, **profile) == text
        assert live.scheduler.profiles["berth"] is before

    def test_one_that_is_refused_changes_nothing(self) -> None:
        live = Live()
        live.running.use({"berth": {**BERTH, "plugins": weights(ImageLocality=8)}})
        with pytest.raises(ConfigError):
            live.running.use({"berth": {**BERTH, "percentageOfNodesToScore": 120}})
        assert live.weight("ImageLocality") == 8

    def test_another_order_of_the_queue_needs_a_restart(self, monkeypatch: pytest.MonkeyPatch) -> None:
        live = Live()
        sorter = live.scheduler.profiles["berth"].queue_sort[0]
        monkeypatch.setattr(type(sorter), "name", "PrioritySort")
        live.scheduler.profiles["berth"].arguments["PrioritySort"] = {"descending": True}
        assert refusal(live, plugins=weights(ImageLocality=2)) == (
            "spec.plugins.queueSort: the queue is sorted by PrioritySort while the scheduler runs; another order needs "
            "a restart"
        )

    def test_a_profile_in_shadow_has_plugins_of_its_own(self) -> None:
        live = Live(percentageOfNodesToScore=70)
        profile, nodes = live.running.in_shadow({**BERTH, "plugins": weights(ImageLocality=8)})
        assert nodes == 70
        mine = live.scheduler.profiles["berth"].plugins
        assert not {id(plugin) for plugin in profile.plugins.values()} & {id(plugin) for plugin in mine.values()}
        assert live.weight("ImageLocality") == 1


class TestFile:
    def test_profiles_and_the_percentage_of_nodes_are_taken_up(self) -> None:
        live = Live(percentageOfNodesToScore=100)
        fresh = {
            **live.document,
            "percentageOfNodesToScore": 30,
            "profiles": [{**BERTH, "plugins": weights(NodeName=0)}],
        }
        fresh["profiles"] = [{**BERTH, "plugins": weights(ImageLocality=5)}]
        assert live.running.use_file(fresh) == Change(("berth",))
        assert live.weight("ImageLocality") == 5
        assert live.scheduler.algorithm.percentage_of_nodes_to_score == 30
        assert live.metrics.config_restart_required.labels().value == 0

    def test_what_takes_a_restart_is_told_and_left(self) -> None:
        live = Live()
        fresh = {
            **live.document,
            "parallelism": 4,
            "leaderElection": {"leaderElect": False},
            "profiles": [{**BERTH, "plugins": weights(ImageLocality=5)}],
        }
        change = live.running.use_file(fresh)
        assert change == Change(("berth",), ("parallelism", "leaderElection"))
        assert live.running.config.parallelism == 16
        assert live.metrics.config_restart_required.labels().value == 1
        assert live.running.use_file(live.document) == Change(("berth",))
        assert live.metrics.config_restart_required.labels().value == 0

    def test_profiles_that_come_or_go_wait_for_a_restart(self) -> None:
        live = Live(BERTH, {"schedulerName": "old", "plugins": weights(ImageLocality=6)})
        fresh = {
            **live.document,
            "profiles": [{"schedulerName": "new"}, {**BERTH, "plugins": weights(ImageLocality=5)}],
        }
        assert live.running.use_file(fresh) == Change(("berth",), ('profile "new" (new)', 'profile "old" (gone)'))
        assert (live.weight("ImageLocality"), live.weight("ImageLocality", "old")) == (5, 6)
        assert list(live.scheduler.profiles) == ["berth", "old"]

    def test_a_file_that_is_refused_changes_nothing(self) -> None:
        live = Live()
        with pytest.raises(ConfigError, match=r"c.yaml: percentageOfNodesToScore: Invalid value: 120"):
            live.running.use_file({**live.document, "percentageOfNodesToScore": 120})
        assert live.running.use_file({**live.document, "percentageOfNodesToScore": 20}) == Change()

    def test_a_profile_that_stands_in_for_the_files_stays_until_it_goes(self) -> None:
        live = Live()
        live.running.use({"berth": {**BERTH, "plugins": weights(ImageLocality=8)}})
        assert live.running.use_file(
            {**live.document, "profiles": [{**BERTH, "plugins": weights(ImageLocality=5)}]}
        ) == (Change())
        assert live.weight("ImageLocality") == 8
        live.running.use({})
        assert live.weight("ImageLocality") == 5

    def test_a_single_profile_without_a_name_is_the_default_one(self) -> None:
        live = Live({"plugins": weights(ImageLocality=2)})
        assert live.running.names == ["default-scheduler"]
        live.running.use_file({**live.document, "profiles": [{"plugins": weights(ImageLocality=5)}]})
        assert live.weight("ImageLocality", "default-scheduler") == 5


class TestTold:
    def test_the_hash_and_the_shown_configuration_follow(self) -> None:
        live = Live()
        before = live.running.hash
        live.running.use({"berth": {**BERTH, "plugins": weights(ImageLocality=8)}})
        assert live.running.hash != before
        shown = live.running.config.profiles[0].plugins.score.enabled
        assert [(plugin.name, plugin.weight) for plugin in shown] == [("ImageLocality", 8)]
        (metric,) = live.metrics.config_info.collect()
        assert [sample.labels for sample in metric.samples] == [{"hash": live.running.hash}]
        live.running.use({})
        assert live.running.hash == before

    def test_changes_are_counted(self) -> None:
        live = Live()
        live.running.taken_up(FILE)
        live.running.refused(FILE)
        assert live.metrics.config_reloads.labels("file", "success").value == 1
        assert live.metrics.config_reloads.labels("file", "rejected").value == 1
        assert live.metrics.config_last_success.labels("file").value > 0


def test_profiles_that_come_from_no_configuration_can_not_change() -> None:
    rig = Rig(Filter("A"))
    with pytest.raises(ValueError, match="not built from a configuration"):
        RunningConfiguration(rig.scheduler, None)  # type: ignore[arg-type]
