"""TLS towards an extender (makeTransport in pkg/scheduler/extender.go, TLSConfigFor in client-go's transport)."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler.config.types import ExtenderTLSConfig

if TYPE_CHECKING:
    from scheduler.config.types import Extender

__all__ = ["ExtenderTLSError", "tls_context"]


class ExtenderTLSError(ValueError):
    """The certificates configured for an extender can't be used."""


def tls_context(extender: Extender) -> ssl.SSLContext:
    """What connections by https to the extender are made with.

    As in kube-scheduler, `enableHTTPS` without a certificate authority means that the server's certificate is not
    checked; without either the authorities of the system count. Raises ExtenderTLSError.
    """
    config = extender.tls_config or ExtenderTLSConfig()
    authority = bool(config.ca_data or config.ca_file)
    if config.insecure and authority:
        raise ExtenderTLSError("specifying a root certificates file with the insecure flag is not allowed")
    try:
        return _context(config, checked=authority or not (config.insecure or extender.enable_https))
    except (OSError, ValueError) as problem:
        raise ExtenderTLSError(_plain(problem)) from problem


def _context(config: ExtenderTLSConfig, *, checked: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority := _content(config.ca_data, config.ca_file):
        context.load_verify_locations(cadata=authority.decode())
    else:
        context.load_default_certs()
    certificate, key = _content(config.cert_data, config.cert_file), _content(config.key_data, config.key_file)
    if certificate and key:
        _present(context, certificate, key)
    return context


def _content(data: bytes, file: str) -> bytes:
    return data or (Path(file).read_bytes() if file else b"")


def _present(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Python reads certificates from files only; the folder is readable by this user alone, and gone at once."""
    with tempfile.TemporaryDirectory(prefix="berth-") as folder:
        files = Path(folder, "tls.crt"), Path(folder, "tls.key")
        for file, content in zip(files, (certificate, key), strict=True):
            file.write_bytes(content)
        context.load_cert_chain(*files)


def _plain(problem: Exception) -> str:
    if isinstance(problem, OSError) and problem.filename and not isinstance(problem, ssl.SSLError):
        return f"open {problem.filename}: {(problem.strerror or '').lower()}"
    return str(problem) or type(problem).__name__
