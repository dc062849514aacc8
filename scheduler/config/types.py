"""KubeSchedulerConfiguration v1 in its defaulted form.

Source: kube-scheduler/config/v1/types.go, component-base/config/v1alpha1/types.go. Field defaults are those
that kube-scheduler sets for an absent field; `scheduler.config.defaults` has those that depend on something else.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import field

from scheduler.api.objects import Int32, Int64, Model
from scheduler.config.args.base import PluginArgs  # noqa: TC001 - msgspec resolves annotations
from scheduler.config.duration import Duration

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
KIND: Final = "KubeSchedulerConfiguration"
DEFAULT_SCHEDULER_NAME: Final = "default-scheduler"


class LeaderElection(Model, frozen=True, kw_only=True):
    """How replicas agree on the one that schedules."""

    leader_elect: bool = True
    lease_duration: Duration = Duration.of_seconds(15)
    renew_deadline: Duration = Duration.of_seconds(10)
    retry_period: Duration = Duration.of_seconds(2)
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


class ClientConnection(Model, frozen=True, kw_only=True):
    """How the API server is reached. `qps` is requests a second, `burst` how many may go at once."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 50.0
    burst: Int32 = 100


class Plugin(Model, frozen=True, kw_only=True):
    """A plugin's name and, for scoring points, its weight (0: not given, which counts as 1)."""

    name: str = ""
    weight: Int32 = 0


class PluginSet(Model, frozen=True, kw_only=True):
    """Plugins to enable after the default ones, and default ones to disable ("*" for all), at one point."""

    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(Model, frozen=True, kw_only=True):
    """A plugin set for each extension point, and `multi_point` for all points that a plugin implements."""

    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()


class PluginConfig(Model, frozen=True, kw_only=True, gc=True):
    """Arguments for a plugin: its args struct, or the JSON value as given if it has none registered."""

    name: str = ""
    args: PluginArgs | Any = None


class Profile(Model, frozen=True, kw_only=True, gc=True):
    """A scheduler name and what schedules the pods that ask for it."""

    scheduler_name: str = ""
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()

    def args(self, plugin: str) -> PluginArgs | Any:
        """The arguments of `plugin`, or None if the profile has none for it."""
        return next((entry.args for entry in self.plugin_config if entry.name == plugin), None)


class ExtenderTLSConfig(Model, frozen=True, kw_only=True):
    """TLS towards an extender. Data are PEM bytes (base64 in the file) and win over files."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = field(default="", name="caFile")
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = field(default=b"", name="caData")


class ExtenderManagedResource(Model, frozen=True, kw_only=True):
    """An extended resource that an extender looks after."""

    name: str = ""
    ignored_by_scheduler: bool = False


class Extender(Model, frozen=True, kw_only=True):
    """An HTTP extender; an empty verb means that it doesn't take part there."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: Duration = Duration()
    node_cache_capable: bool = False
    managed_resources: tuple[ExtenderManagedResource, ...] = ()
    ignorable: bool = False


class KubeSchedulerConfiguration(Model, frozen=True, kw_only=True, gc=True):
    """The whole configuration. Backoffs are seconds; `percentage_of_nodes_to_score` 0 means adaptive."""

    api_version: str = API_VERSION
    kind: str = KIND
    parallelism: Int32 = 16
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    percentage_of_nodes_to_score: Int32 = 0
    pod_initial_backoff_seconds: Int64 = 1
    pod_max_backoff_seconds: Int64 = 10
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False
