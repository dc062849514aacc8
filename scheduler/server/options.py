"""Settings of the HTTPS server, named by kube-scheduler's flags."""

from __future__ import annotations

from dataclasses import dataclass

COMPONENT = "berth"
CONFIG_MAP_NAMESPACE = "kube-system"
CONFIG_MAP_NAME = "extension-apiserver-authentication"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Values of the serving, authentication and authorization flags. Times are seconds.

    `secure_port` 0 means not to serve at all. Without `tls_cert_file` and `tls_private_key_file` the server
    takes the pair named after `component` in `cert_dir`, made there if need be, or, without a directory, a
    self-signed one that exists in memory only. `client_ca_file` wins over the cluster's ConfigMap.
    """

    component: str = COMPONENT
    bind_address: str = "0.0.0.0"
    secure_port: int = 10259
    permit_port_sharing: bool = False
    cert_dir: str = ""
    tls_cert_file: str = ""
    tls_private_key_file: str = ""
    tls_min_version: str = ""
    tls_cipher_suites: tuple[str, ...] = ()
    client_ca_file: str = ""
    authentication_skip_lookup: bool = False
    authentication_tolerate_lookup_failure: bool = True
    authentication_token_webhook_cache_ttl: float = 10.0
    authorization_webhook_cache_authorized_ttl: float = 10.0
    authorization_webhook_cache_unauthorized_ttl: float = 10.0
    authorization_always_allow_paths: tuple[str, ...] = ("/healthz", "/readyz", "/livez")
    authorization_always_allow_groups: tuple[str, ...] = ("system:masters",)
    profiling: bool = True
    reload_interval: float = 10.0
    shutdown_timeout: float = 5.0
