"""Defaults are kube-scheduler's (its /flagz)."""

from __future__ import annotations

from scheduler.server.options import ServerOptions


def test_defaults():
    options = ServerOptions()
    assert options.secure_port == 10259
    assert options.bind_address == "0.0.0.0"
    assert options.authentication_token_webhook_cache_ttl == 10
    assert options.authorization_webhook_cache_authorized_ttl == 10
    assert options.authorization_webhook_cache_unauthorized_ttl == 10
    assert options.authentication_tolerate_lookup_failure
    assert not options.authentication_skip_lookup
    assert options.authorization_always_allow_paths == ("/healthz", "/readyz", "/livez")
    assert options.authorization_always_allow_groups == ("system:masters",)
    assert options.profiling
    assert options.shutdown_timeout == 5
