from __future__ import annotations

import ssl
import stat
from datetime import timedelta

import pytest
from cryptography import x509

from scheduler.server.certificates import KeyPair, ends_soon, load_into, pair_in_directory, self_signed


def names(pair):
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = extension.get_values_for_type(x509.IPAddress)
    return {*extension.get_values_for_type(x509.DNSName), *map(str, addresses)}


@pytest.mark.parametrize(("bind_address", "extra"), [("0.0.0.0", set()), ("::", set()), ("10.1.2.3", {"10.1.2.3"})])
def test_self_signed_names_the_host_and_the_bound_address(bind_address, extra):
    found = names(self_signed(bind_address))
    assert {"localhost", "127.0.0.1", "::1"} | extra <= found
    assert "0.0.0.0" not in found


def test_self_signed_is_good_for_long():
    pair = self_signed("127.0.0.1")
    assert not ends_soon(pair)
    assert ends_soon(pair, within=timedelta(days=366))


def test_pair_in_memory_is_loaded():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    load_into(context, self_signed("127.0.0.1"))


def test_key_of_another_certificate_is_refused():
    mixed = KeyPair(self_signed("127.0.0.1").certificate, self_signed("127.0.0.1").key)
    with pytest.raises(ssl.SSLError):
        load_into(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), mixed)


def test_pair_in_a_directory_is_made_once_and_its_key_kept_private(tmp_path):
    directory = tmp_path / "certs"
    paths = pair_in_directory(str(directory), "berth", "127.0.0.1")
    assert paths == (str(directory / "berth.crt"), str(directory / "berth.key"))
    key = directory / "berth.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    assert pair_in_directory(str(directory), "berth", "127.0.0.1") == paths
    assert key.read_bytes() == before
