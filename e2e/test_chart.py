"""The Helm chart: what it renders and what it refuses."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
import yaml

from e2e.chart import CHART, ROOT, VALUES, Helm, Object, Objects, configuration, container, one, pod_template
from scheduler.app.profile_watch import GROUP, PLURAL
from scheduler.client import kinds
from scheduler.metrics import component, config_specs, scheduler_metrics, specs
from scheduler.metrics.instruments import Spec
from scheduler.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERYTHING = VALUES["everything"]
READ = frozenset({"get", "list", "watch"})

each_values_file = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())


@pytest.fixture(scope="module", name="helm")
def real_helm(helm: str, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(helm, tmp_path_factory.mktemp("helm"))


def identities(objects: Objects) -> Counter[tuple[str, str, str]]:
    return Counter((o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]) for o in objects)


def allowed(role: Object) -> set[tuple[str, str, str]]:
    """(API group, resource, verb) of each permission."""
    return {
        (group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


# What is rendered


@each_values_file
def test_the_chart_passes_helm_lint(helm: Helm, values: list[str]) -> None:
    helm("lint", str(CHART), "--strict", *values)


def test_the_chart_and_the_scheduler_have_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["apiVersion"] == "v2"
    assert chart["version"] == chart["appVersion"] == __version__


def test_the_plain_manifests_are_the_chart_with_its_default_values(helm: Helm) -> None:
    manifests = (ROOT / "deploy" / "berth.yaml").read_text()
    assert manifests == helm.template("--skip-tests", "--include-crds"), "make it again: make manifests"


def test_the_readme_lists_every_value() -> None:
    def paths(value: object, path: str) -> Iterator[str]:
        yield path
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from paths(inner, f"{path}.{key}" if path else key)

    listed = set(re.findall(r"^\| `([\w.]+)` \|", (CHART / "README.md").read_text(), re.MULTILINE))
    for path in paths(yaml.safe_load((CHART / "values.yaml").read_text()), ""):
        parents = {path.rsplit(".", up)[0] for up in range(1, path.count(".") + 1)}
        below = any(other.startswith(f"{path}.") for other in listed)
        assert not path or path in listed or below or parents & listed, path


@each_values_file
def test_every_object_is_labelled_and_rendered_once(helm: Helm, values: list[str]) -> None:
    objects = helm.render(*values)
    assert max(identities(objects).values()) == 1
    for rendered in objects:
        assert rendered["metadata"]["labels"]["app.kubernetes.io/instance"] == "berth", rendered["metadata"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"release": "second"}, id="another name"),
        pytest.param({"namespace": "tools"}, id="another namespace"),
    ],
)
def test_two_releases_share_no_object(helm: Helm, other: dict[str, str]) -> None:
    values = [*EVERYTHING, "--set", "serviceAccount.name=,leaderElection.resourceNamespace="]
    first, second = helm.render(*values), helm.render(*values, **other)
    assert set(identities(first)) & set(identities(second)) == set()


def test_the_selector_finds_the_pods_of_its_own_release_only(helm: Helm) -> None:
    first, second = helm.render(release="one"), helm.render(release="two")
    selector = one(first, "Service")["spec"]["selector"].items()
    assert selector <= pod_template(first)["metadata"]["labels"].items()
    assert not selector <= pod_template(second)["metadata"]["labels"].items()
    assert not selector <= one(first, "Pod")["metadata"]["labels"].items(), "the pod of helm test"


def test_the_default_configuration_schedules_berth_on_all_nodes_under_a_lease(helm: Helm) -> None:
    assert configuration(helm.render()) == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
        "leaderElection": {
            "leaderElect": True,
            "leaseDuration": "15s",
            "renewDeadline": "10s",
            "retryPeriod": "2s",
            "resourceLock": "leases",
            "resourceName": "berth",
            "resourceNamespace": "kube-system",
        },
        "profiles": [{"schedulerName": "berth"}],
    }


@pytest.mark.parametrize("key", ["profiles", "config.profiles"])
def test_profiles_go_into_the_configuration_as_they_are(helm: Helm, key: str) -> None:
    profiles = yaml.safe_load((CHART / "ci" / "two-profiles-values.yaml").read_text())["profiles"]
    rendered = configuration(helm.render("--set-json", f"{key}={json.dumps(profiles)}"))
    assert rendered["profiles"] == profiles


def test_pods_restart_when_and_only_when_the_configuration_changes(helm: Helm) -> None:
    def template(*arguments: str) -> Object:
        return pod_template(helm.render(*arguments))

    assert template("--set", "schedulerName=other") != template()
    assert template("--set", "config.parallelism=8") != template()
    assert template("--set", "replicaCount=3", "--set", "service.port=443") == template()


def test_a_change_that_running_schedulers_take_up_restarts_none(helm: Helm) -> None:
    profile = {"schedulerName": "berth", "plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}}}
    sorted_otherwise = {"schedulerName": "berth", "plugins": {"queueSort": {"disabled": [{"name": "*"}]}}}

    def template(*arguments: str) -> Object:
        return pod_template(helm.render(*arguments))

    assert template("--set-json", f"profiles={json.dumps([profile])}") == template()
    assert template("--set", "config.percentageOfNodesToScore=50") == template()
    assert template("--set-json", f"profiles={json.dumps([sorted_otherwise])}") != template()


def test_without_scheduler_profiles_there_is_neither_the_flag_nor_the_right(helm: Helm) -> None:
    off = helm.render("--set", "schedulerProfiles.enabled=false")
    assert "--scheduler-profiles" not in container(off)["args"]
    assert not any(group == GROUP for group, _, _ in allowed(one(off, "ClusterRole", "kube-system:berth")))


def test_flags_are_rendered_from_values(helm: Helm) -> None:
    assert container(helm.render())["args"] == [
        "run",
        "--config=/etc/berth/config.yaml",
        "--secure-port=10259",
        "--logging-format=text",
        "-v=2",
        "--scheduler-profiles",
    ]
    assert container(helm.render(*EVERYTHING))["args"] == [
        "run",
        "--config=/etc/berth/config.yaml",
        "--secure-port=11259",
        "--logging-format=json",
        "-v=4",
        "--scheduler-profiles",
        "--annotate-decisions",
        "--feature-gates=NodeDeclaredFeatures=true",
        "--kube-api-burst=200",
        "--profiling=false",
    ]


def test_a_digest_wins_over_the_tag(helm: Helm) -> None:
    assert container(helm.render())["image"] == f"berth:{__version__}"
    assert container(helm.render("--set", "image.tag=nightly"))["image"] == "berth:nightly"
    digest = "sha256:" + "0" * 64
    assert container(helm.render("--set", f"image.tag=nightly,image.digest={digest}"))["image"] == f"berth@{digest}"


def test_the_image_is_made_for_what_the_chart_does_with_it(helm: Helm) -> None:
    image = (ROOT / "Dockerfile").read_text()
    pod = pod_template(helm.render())["spec"]
    user = pod["securityContext"]
    assert f"\nUSER {user['runAsUser']}:{user['runAsGroup']}\n" in image
    assert f"\nEXPOSE {container(helm.render())['ports'][0]['containerPort']}\n" in image
    assert '\nENTRYPOINT ["/opt/berth/bin/berth"]\n' in image, "the chart gives arguments only"
    assert f'org.opencontainers.image.version="{__version__}"' in image
    writable = [volume["name"] for volume in pod["volumes"] if "emptyDir" in volume]
    mounts = {mount["name"]: mount["mountPath"] for mount in container(helm.render())["volumeMounts"]}
    assert [mounts[name] for name in writable] == ["/tmp"]
    assert "\nWORKDIR /tmp\n" in image


def test_probes_go_to_the_secure_port(helm: Helm) -> None:
    rendered = container(helm.render())
    assert rendered["ports"] == [{"name": "https", "containerPort": 10259, "protocol": "TCP"}]
    for probe, path in {
        "startupProbe": "/livez",
        "livenessProbe": "/livez",
        "readinessProbe": "/readyz",
    }.items():
        assert rendered[probe]["httpGet"] == {"path": path, "port": "https", "scheme": "HTTPS"}


def test_without_leader_election_an_update_stops_the_old_scheduler_first(helm: Helm) -> None:
    single = helm.render(*VALUES["single-replica"])
    assert one(single, "Deployment")["spec"]["strategy"] == {"type": "Recreate"}
    assert one(helm.render(), "Deployment")["spec"]["strategy"] == {"type": "RollingUpdate"}


def test_the_dashboard_and_the_rules_ask_for_metrics_that_exist(helm: Helm) -> None:
    objects = helm.render(*EVERYTHING)
    text = one(objects, "ConfigMap", "berth-sched-dashboard")["data"]["berth-sched.json"]
    dashboard = json.loads(text)
    assert dashboard["title"] == "Berth: kube-system/berth"
    rules = [rule for group in one(objects, "PrometheusRule")["spec"]["groups"] for rule in group["rules"]]
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    expressions += [rule["expr"] for rule in rules]
    recorded = {rule["record"] for rule in rules if "record" in rule}
    modules = (specs, config_specs, scheduler_metrics, component)
    known = {value.name for module in modules for value in vars(module).values() if isinstance(value, Spec)}
    for expression in expressions:
        for name in re.findall(r"([a-z_:]+)\{", expression):
            if name != "up" and not name.startswith("process_") and name not in recorded:
                assert re.sub(r"_(bucket|sum|count)$", "", name) in known, expression


# What is refused


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ("leaderElection.enabled=false", "replicaCount is 2, but leaderElection.enabled is false"),
        (
            "replicaCount=1,leaderElection.enabled=false,strategy.type=RollingUpdate",
            "an update would run two active schedulers",
        ),
        ("config.leaderElection.leaderElect=true", "use the leaderElection values instead"),
        ("extraArgs.leader-elect=false", "extraArgs.leader-elect is set"),
        ("profiles[0].schedulerName=a,config.profiles[0].schedulerName=b", "both set"),
        ("profiles[0].schedulerName=a,profiles[1].schedulerName=a", "the same schedulerName (a, a)"),
        (
            "podDisruptionBudget.minAvailable=1",
            "minAvailable and podDisruptionBudget.maxUnavailable are both set",
        ),
        ("serviceMonitor.enabled=true,service.enabled=false", "needs service.enabled"),
    ],
)
def test_values_that_would_not_work_are_refused_with_the_reason(helm: Helm, values: str, reason: str) -> None:
    assert reason in helm.refusal("--set", values)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ("replicas=3", "replicas"),
        ("replicaCount=many", "replicaCount"),
        ("leaderElection.leaseDuration=15", "leaseDuration"),
        ("profiles[0].name=berth", "profiles"),
        ("image.digest=latest", "digest"),
        ("securePort=0", "securePort"),
        ("extraArgs.--kubeconfig=x", "extraArgs"),
        ("logging.format=xml", "format"),
    ],
)
def test_unknown_and_mistyped_values_are_refused_with_their_place(helm: Helm, values: str, place: str) -> None:
    assert place in helm.refusal("--set", values)


# Permissions


def test_the_cluster_role_reads_what_the_scheduler_watches_and_no_more(helm: Helm) -> None:
    role = one(helm.render(), "ClusterRole", "kube-system:berth")
    reads = {(group, resource) for group, resource, verb in allowed(role) if verb in READ}
    resources = [value for value in vars(kinds).values() if isinstance(value, kinds.Resource)]
    assert reads == {(resource.group, resource.plural) for resource in resources} | {(GROUP, PLURAL)}


def test_the_cluster_role_writes_bindings_status_volumes_events_and_reviews_and_no_more(helm: Helm) -> None:
    role = one(helm.render(), "ClusterRole", "kube-system:berth")
    assert {permission for permission in allowed(role) if permission[2] not in READ} == {
        ("", "pods/binding", "create"),
        ("", "pods", "delete"),
        ("", "pods/status", "patch"),
        ("", "persistentvolumes", "patch"),
        ("", "persistentvolumeclaims", "patch"),
        ("events.k8s.io", "events", "create"),
        ("events.k8s.io", "events", "patch"),
        ("authentication.k8s.io", "tokenreviews", "create"),
        ("authorization.k8s.io", "subjectaccessreviews", "create"),
        (GROUP, f"{PLURAL}/status", "patch"),
    }


def test_without_preemption_no_pod_may_be_deleted(helm: Helm) -> None:
    without = allowed(one(helm.render("--set", "rbac.preemption=false"), "ClusterRole", "kube-system:berth"))
    assert allowed(one(helm.render(), "ClusterRole", "kube-system:berth")) - without == {("", "pods", "delete")}


def test_only_to_annotate_decisions_may_pods_be_patched(helm: Helm) -> None:
    annotating = helm.render("--set", "annotateDecisions.enabled=true")
    before, after = helm.render(), annotating
    assert "--annotate-decisions" not in container(before)["args"]
    assert "--annotate-decisions" in container(after)["args"]
    name = "kube-system:berth"
    more = allowed(one(after, "ClusterRole", name)) - allowed(one(before, "ClusterRole", name))
    assert more == {("", "pods", "patch")}


def test_nobody_may_read_decisions_unless_named(helm: Helm) -> None:
    name = "kube-system:berth:explain"
    bound = [o for o in helm.render() if o["kind"].endswith("Binding") and o["roleRef"]["name"] == name]
    assert bound == []
    objects = helm.render(
        "--set", "rbac.explain.subjects[0].kind=Group,rbac.explain.subjects[0].name=dev",
        "--set", "rbac.explain.aggregateTo={view}", "--set", "leaderElection.resourceName=lead",
    )  # fmt: skip
    (cluster_role,) = (o for o in objects if (o["kind"], o["metadata"]["name"]) == ("ClusterRole", name))
    assert cluster_role["rules"] == [{"nonResourceURLs": ["/explain/v1/*", "/page"], "verbs": ["get"]}]
    assert cluster_role["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    role = one(objects, "Role", name)
    assert allowed(role) == {
        ("coordination.k8s.io", "leases", "get"),
        ("", "pods", "get"),
        ("", "pods", "list"),
        ("", "pods/portforward", "get"),
        ("", "pods/portforward", "create"),
    }
    assert role["rules"][0]["resourceNames"] == ["lead"]
    for kind, role_kind in (("ClusterRoleBinding", "ClusterRole"), ("RoleBinding", "Role")):
        binding = one(objects, kind, name)
        assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == (role_kind, name)
        assert binding["subjects"] == [{"kind": "Group", "name": "dev"}]


@pytest.mark.parametrize("values", [[], EVERYTHING], ids=["defaults", "everything"])
def test_the_lease_in_the_configuration_is_the_one_that_may_be_written(helm: Helm, values: list[str]) -> None:
    objects = helm.render(*values)
    election = configuration(objects)["leaderElection"]
    (role,) = (o for o in objects if o["kind"] == "Role" and o["metadata"]["name"].endswith(":leader-election"))
    scoped = [rule for rule in role["rules"] if "resourceNames" in rule]
    assert role["metadata"]["namespace"] == election["resourceNamespace"]
    assert [(rule["resourceNames"], rule["verbs"]) for rule in scoped] == [
        ([election["resourceName"]], ["get", "update"])
    ]
    assert [rule["verbs"] for rule in role["rules"] if rule not in scoped] == [["create"]]
