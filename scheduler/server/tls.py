"""TLS settings by kube-scheduler's flag values, and an SSL context that takes new certificates as it serves."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from scheduler.server.certificates import KeyPair, ends_soon, load_into, pair_in_directory, self_signed

if TYPE_CHECKING:
    from scheduler.server.options import ServerOptions

_log = logging.getLogger(__name__)

VERSIONS = {
    "": ssl.TLSVersion.TLSv1_2,
    "VersionTLS10": ssl.TLSVersion.TLSv1,
    "VersionTLS11": ssl.TLSVersion.TLSv1_1,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}
# Go's names (crypto/tls) to OpenSSL's. Those of TLS 1.3 can be named, but are always on, as in Go.
CIPHERS = {
    "TLS_AES_128_GCM_SHA256": "",
    "TLS_AES_256_GCM_SHA384": "",
    "TLS_CHACHA20_POLY1305_SHA256": "",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256": "ECDHE-ECDSA-AES128-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256": "ECDHE-RSA-AES128-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
}


class TLSError(ValueError):
    """A TLS flag, certificate or key can't be used; says which and why."""


class ServingContext:
    """An SSL context for a server. `reload` makes connections from then on use what the files hold now.

    `asks_certificate`: request a client certificate. One that no known authority signed ends the handshake,
    where kube-scheduler would answer 401.
    """

    def __init__(self, options: ServerOptions, client_ca: str, *, asks_certificate: bool) -> None:
        self._options = options
        self._asks = asks_certificate
        self._generated: KeyPair | None = None
        self._files = self._files_to_serve()
        self._loaded: tuple[KeyPair, str] = (KeyPair(b"", b""), "")
        self._current = self.context = _context(options, asks_certificate=asks_certificate)
        self.reload(client_ca)
        # A handshake begins with this context and goes on with the current one.
        self.context.sni_callback = self._switch

    @property
    def certificate(self) -> bytes:
        """The certificate (DER) that new connections get."""
        pem = self._loaded[0].certificate.decode("latin-1")
        end = "-----END CERTIFICATE-----"
        return ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE-----") : pem.index(end) + len(end)])

    def reload(self, client_ca: str) -> bool:
        """Read the files again and take `client_ca` (PEM); True if anything changed.

        Raises TLSError, and goes on as before, if the certificate, its key or the authorities can't be used.
        """
        wanted = (self._pair(), client_ca)
        if wanted == self._loaded:
            return False
        context = _context(self._options, asks_certificate=self._asks)
        try:
            load_into(context, wanted[0])
        except (ssl.SSLError, OSError) as error:
            raise TLSError(f"{self._origin()}: can't be served with: {error}") from error
        if client_ca:
            try:
                context.load_verify_locations(cadata=client_ca)
            except (ssl.SSLError, ValueError) as error:
                raise TLSError(f"client CA: not a list of PEM certificates: {error}") from error
        if self._loaded[0] == KeyPair(b"", b""):
            load_into(self.context, wanted[0])
        self._loaded = wanted
        self._current = context
        return True

    def _switch(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._current

    def _files_to_serve(self) -> tuple[str, str] | None:
        options = self._options
        if options.tls_cert_file and options.tls_private_key_file:
            return options.tls_cert_file, options.tls_private_key_file
        if options.tls_cert_file or options.tls_private_key_file:
            raise TLSError("--tls-cert-file and --tls-private-key-file have to be given together")
        if options.cert_dir:
            return pair_in_directory(options.cert_dir, options.component, options.bind_address)
        return None

    def _pair(self) -> KeyPair:
        if self._files is None:
            if self._generated is None or ends_soon(self._generated):
                self._generated = self_signed(self._options.bind_address)
            return self._generated
        try:
            return KeyPair(*(Path(path).read_bytes() for path in self._files))
        except OSError as error:
            raise TLSError(f"{self._origin()}: {error}") from error

    def _origin(self) -> str:
        return " and ".join(self._files) if self._files else "self-signed certificate"


def read_client_ca(path: str) -> str:
    """The certificates in `path`. Raises TLSError if it can't be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TLSError(f"--client-ca-file {path}: {error}") from error


def _context(options: ServerOptions, *, asks_certificate: bool) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if options.tls_min_version not in VERSIONS:
        known = ", ".join(name for name in VERSIONS if name)
        raise TLSError(f"--tls-min-version: unknown {options.tls_min_version!r}, known are {known}")
    context.minimum_version = VERSIONS[options.tls_min_version]
    _choose_ciphers(context, options.tls_cipher_suites)
    context.set_alpn_protocols(["http/1.1"])
    # A resumed session would keep the identity of a certificate whose authority is not trusted any more.
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.num_tickets = 0
    if asks_certificate:
        context.verify_mode = ssl.CERT_OPTIONAL
        # As in Go, an authority need not be self-signed.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _choose_ciphers(context: ssl.SSLContext, names: tuple[str, ...]) -> None:
    unknown = [name for name in names if name not in CIPHERS]
    if unknown:
        raise TLSError(f"--tls-cipher-suites: {unknown[0]} is not supported or doesn't exist")
    chosen = [CIPHERS[name] for name in names if CIPHERS[name]]
    if chosen:
        context.set_ciphers(":".join(dict.fromkeys(chosen)))
