"""The certificate to serve with: from files, from a directory, or self-signed."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

LIFETIME = timedelta(days=365)


class KeyPair(NamedTuple):
    """A certificate chain and its private key, both PEM."""

    certificate: bytes
    key: bytes


def self_signed(bind_address: str) -> KeyPair:
    """A new certificate for this host's names and addresses, good for a year."""
    host = socket.gethostname() or "localhost"
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{host[:40]}@{int(time.time())}")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName(_names(host, bind_address)), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return KeyPair(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
    )


def ends_soon(pair: KeyPair, *, within: timedelta = timedelta(days=30)) -> bool:
    """Whether the certificate expires `within` that time."""
    return x509.load_pem_x509_certificate(pair.certificate).not_valid_after_utc < datetime.now(UTC) + within


def pair_in_directory(directory: str, name: str, bind_address: str) -> tuple[str, str]:
    """Paths of `name`.crt and `name`.key in `directory`; a self-signed pair is made if one is missing."""
    certificate, key = Path(directory, f"{name}.crt"), Path(directory, f"{name}.key")
    if not (certificate.exists() and key.exists()):
        pair = self_signed(bind_address)
        certificate.parent.mkdir(parents=True, exist_ok=True)
        certificate.write_bytes(pair.certificate)
        key.unlink(missing_ok=True)
        key.touch(mode=0o600)
        key.write_bytes(pair.key)
    return str(certificate), str(key)


def load_into(context: ssl.SSLContext, pair: KeyPair) -> None:
    """Give `context` a pair that is in memory. Raises ssl.SSLError if the two don't belong together."""
    # OpenSSL takes a chain from a file only: one without a name, or one that is removed at once.
    with _readable(pair.certificate + b"\n" + pair.key) as path:
        context.load_cert_chain(path)


@contextlib.contextmanager
def _readable(content: bytes) -> Iterator[str]:
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create("serving"), "wb") as file:
            file.write(content)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.NamedTemporaryFile() as named:
            named.write(content)
            named.flush()
            yield named.name


def _names(host: str, bind_address: str) -> list[x509.GeneralName]:
    addresses = ["127.0.0.1", "::1"]
    with contextlib.suppress(ValueError):
        if not ipaddress.ip_address(bind_address).is_unspecified and bind_address not in addresses:
            addresses.append(bind_address)
    names: list[x509.GeneralName] = [x509.DNSName("localhost")]
    if host != "localhost" and host.isascii():
        names.append(x509.DNSName(host))
    return [*names, *(x509.IPAddress(ipaddress.ip_address(address)) for address in addresses)]
