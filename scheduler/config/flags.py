"""kube-scheduler's command line, for argparse.

Flags that Berth has no use for are taken without effect where that does no harm, and refused where ignoring them
would leave a user with less than was asked for; --help says which is which.

Source of names and defaults: cmd/kube-scheduler/app/options, apiserver pkg/server/options, component-base.
"""

from __future__ import annotations

import argparse
import ipaddress
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scheduler.config.duration import Duration
from scheduler.config.features import parse_bool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_TLS_VERSIONS: Final = ("VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13")
_CONFIG_WINS: Final = "Deprecated in favour of the configuration, and without effect when --config is given."


def go_bool(text: str) -> bool:
    """A boolean as Go's flags spell it (1, t, true, ...). Raises argparse.ArgumentTypeError."""
    value = parse_bool(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"invalid boolean value {text!r}")
    return value


def duration(text: str) -> Duration:
    """A duration such as 15s. Raises argparse.ArgumentTypeError with Go's message."""
    try:
        return Duration.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def seconds(text: str) -> float:
    """A duration such as 15s, in seconds."""
    return duration(text).seconds


def address(text: str) -> str:
    """An IP address; empty stands for all. Raises argparse.ArgumentTypeError."""
    if not text:
        return "0.0.0.0"
    try:
        return str(ipaddress.ip_address(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"invalid IP address {text!r}") from error


def finite(text: str) -> float:
    """A number that isn't infinite. Raises argparse.ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"invalid number {text!r}")
    return value


def int32(text: str) -> int:
    """A 32-bit integer. Raises argparse.ArgumentTypeError."""
    try:
        value = int(text, 10)
    except ValueError:
        value = 2**31
    if not -(2**31) <= value < 2**31:
        raise argparse.ArgumentTypeError(f"invalid 32-bit integer {text!r}")
    return value


class _List(argparse.Action):
    """Comma-separated values; each further use of the flag adds to them."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser, option_string
        added = tuple(str(values).split(",")) if values else ()
        setattr(namespace, self.dest, (getattr(namespace, self.dest) or ()) + added)


class _Refused(argparse.Action):
    """A flag of kube-scheduler's that Berth can't honour."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del namespace, values
        parser.error(f"{option_string} {self.help}")


class _Flag(NamedTuple):
    name: str
    help: str
    default: str = ""
    type: Callable[[str], Any] = str
    many: bool = False
    choices: Iterable[str] | None = None


_GROUPS: Final[dict[str, tuple[_Flag, ...]]] = {
    "misc": (
        _Flag("config", "File with the KubeSchedulerConfiguration."),
        _Flag("write-config-to", "Write the effective configuration to this file and exit."),
        _Flag("master", "Address of the API server; wins over the kubeconfig."),
    ),
    "secure serving": (
        _Flag("bind-address", "Address to serve on.", "0.0.0.0", address),
        _Flag("secure-port", "Port to serve HTTPS on, 0 for not at all.", "10259", int),
        _Flag("cert-dir", "Directory with the serving certificate; one is made there if it is missing."),
        _Flag("tls-cert-file", "Serving certificate, followed by its authorities; by default one is made up."),
        _Flag("tls-private-key-file", "Key of --tls-cert-file."),
        _Flag("tls-cipher-suites", "Cipher suites to offer, in Go's names.", many=True),
        _Flag("tls-min-version", "Oldest TLS version to talk.", choices=_TLS_VERSIONS),
        _Flag("permit-port-sharing", "Bind the port with SO_REUSEPORT.", "false", go_bool),
    ),
    "authentication": (
        _Flag("authentication-kubeconfig", "Kubeconfig to review tokens with; without, nobody has a name."),
        _Flag("authentication-skip-lookup", "Don't look for the client CA in the cluster.", "false", go_bool),
        _Flag(
            "authentication-tolerate-lookup-failure",
            "Go on if the client CA can't be looked up.",
            "true",
            go_bool,
        ),
        _Flag("authentication-token-webhook-cache-ttl", "How long a token stays reviewed.", "10s", seconds),
        _Flag("client-ca-file", "Authorities whose client certificates are believed."),
    ),
    "authorization": (
        _Flag("authorization-kubeconfig", "Kubeconfig to review access with; without, all is forbidden."),
        _Flag(
            "authorization-always-allow-paths",
            "Paths that anyone may read.",
            "/healthz,/readyz,/livez",
            many=True,
        ),
        _Flag("authorization-webhook-cache-authorized-ttl", "How long a yes is kept.", "10s", seconds),
        _Flag("authorization-webhook-cache-unauthorized-ttl", "How long a no is kept.", "10s", seconds),
    ),
    "leader election": (
        _Flag("leader-elect", "Schedule only while holding the lease; wins over --config.", "true", go_bool),
        _Flag("leader-elect-lease-duration", "How long others respect a lease.", "15s", duration),
        _Flag("leader-elect-renew-deadline", "How long the leader tries to renew it.", "10s", duration),
        _Flag("leader-elect-retry-period", "Pause between two attempts.", "2s", duration),
        _Flag("leader-elect-resource-lock", "Kind of the lock; there are only leases.", "leases"),
        _Flag("leader-elect-resource-name", "Name of the lease; wins over --config.", "berth"),
        _Flag("leader-elect-resource-namespace", "Namespace of the lease.", "kube-system"),
    ),
    "deprecated": (
        _Flag("kubeconfig", f"Kubeconfig to reach the API server with. {_CONFIG_WINS}"),
        _Flag("kube-api-qps", f"Requests a second to the API server. {_CONFIG_WINS}", "50", finite),
        _Flag("kube-api-burst", f"Requests that may go at once. {_CONFIG_WINS}", "100", int32),
        _Flag(
            "kube-api-content-type",
            f"Content type, which is shown in the configuration; JSON is spoken. {_CONFIG_WINS}",
            "application/vnd.kubernetes.protobuf",
        ),
        _Flag("profiling", f"Serve profiles of the process. {_CONFIG_WINS}", "true", go_bool),
        _Flag("contention-profiling", f"Shown in the configuration only. {_CONFIG_WINS}", "true", go_bool),
        _Flag(
            "pod-max-in-unschedulable-pods-duration",
            "How long a pod may stay unschedulable before it is tried again without a reason.",
            "5m0s",
            seconds,
        ),
    ),
    "feature gate": (
        _Flag("feature-gates", "Gates to switch, as Name=true,Other=false; may be given again.", many=True),
    ),
    "metrics": (_Flag("disabled-metrics", "Full names of metrics to leave out.", many=True),),
    "logs": (
        _Flag("logging-format", "Format of the log.", "text", choices=("text", "json")),
        _Flag("v", "Verbosity of the log.", "0", int32),
    ),
}

_NO_EFFECT: Final = {
    "disable-http2-serving": "HTTP/2 isn't served anyway",
    "http2-max-streams-per-connection": "HTTP/2 isn't served",
    "permit-address-sharing": "SO_REUSEADDR is always set",
    "show-hidden-metrics-for-version": "no metric is hidden",
    "log-flush-frequency": "the log isn't buffered",
    "log-json-info-buffer-size": "the log isn't buffered",
    "log-json-split-stream": "the log goes to standard error",
    "log-text-info-buffer-size": "the log isn't buffered",
    "log-text-split-stream": "the log goes to standard error",
    "vmodule": "verbosity is the same for all files",
}
_REFUSED: Final = {
    "allow-metric-labels": "label values can't be restricted",
    "allow-metric-labels-manifest": "label values can't be restricted",
    "emulated-version": "no version but 1.37 is emulated",
    "min-compatibility-version": "it is always 1.36",
    "requestheader-allowed-names": "users aren't taken from request headers",
    "requestheader-client-ca-file": "users aren't taken from request headers",
    "requestheader-extra-headers-prefix": "users aren't taken from request headers",
    "requestheader-group-headers": "users aren't taken from request headers",
    "requestheader-uid-headers": "users aren't taken from request headers",
    "requestheader-username-headers": "users aren't taken from request headers",
    "tls-curve-preferences": "key exchange is left to OpenSSL",
    "tls-sni-cert-key": "only one certificate is served",
}
_NO_EFFECT_SWITCHES: Final = frozenset(
    {"disable-http2-serving", "permit-address-sharing", "log-json-split-stream", "log-text-split-stream"}
)


def add_scheduler_flags(parser: argparse.ArgumentParser) -> None:
    """Add kube-scheduler's flags to `parser`, in its groups. A flag that isn't given is None in the namespace.

    `parser` should be made with allow_abbrev=False, as kube-scheduler takes no abbreviations.
    """
    for title, flags in _GROUPS.items():
        group = parser.add_argument_group(f"{title} flags")
        for flag in flags:
            _add(group, flag)
    group = parser.add_argument_group("flags of kube-scheduler that are accepted without effect")
    for name, reason in _NO_EFFECT.items():
        switch = {"nargs": "?", "const": ""} if name in _NO_EFFECT_SWITCHES else {}
        group.add_argument(f"--{name}", help=f"no effect: {reason}", metavar="VALUE", **switch)  # type: ignore[arg-type]
    group = parser.add_argument_group("flags of kube-scheduler that are refused")
    for name, reason in _REFUSED.items():
        group.add_argument(f"--{name}", action=_Refused, nargs="?", metavar="VALUE", help=f"is not supported: {reason}")


def ineffective(namespace: argparse.Namespace) -> list[str]:
    """A warning for each flag that was given though it has no effect."""
    return [
        f"--{name} has no effect: {reason}"
        for name, reason in _NO_EFFECT.items()
        if getattr(namespace, name.replace("-", "_"), None) is not None
    ]


def _add(group: argparse._ArgumentGroup, flag: _Flag) -> None:
    names = [f"--{flag.name}"] if len(flag.name) > 1 else [f"-{flag.name}", f"--{flag.name}"]
    shown = f"{flag.help} (default {flag.default})" if flag.default else flag.help
    settings: dict[str, Any] = {"help": shown, "default": None}
    if flag.many:
        settings |= {"action": _List, "metavar": "A,B"}
    elif flag.type is go_bool:
        settings |= {"nargs": "?", "const": True, "type": go_bool, "metavar": "true|false"}
    else:
        settings |= {"type": flag.type, "choices": flag.choices}
        if flag.choices is None:
            settings["metavar"] = "VALUE"
    group.add_argument(*names, **settings)
