from __future__ import annotations

import ssl

import pytest

from scheduler.server.options import ServerOptions
from scheduler.server.tls import ServingContext, TLSError, read_client_ca


def serving(client_ca="", *, asks=False, **options):
    return ServingContext(ServerOptions(**options), client_ca, asks_certificate=asks)


def enabled_ciphers(context):
    return {cipher["name"] for cipher in context.get_ciphers() if not cipher["name"].startswith("TLS_")}


@pytest.mark.parametrize(
    ("flag", "version"),
    [
        ("", ssl.TLSVersion.TLSv1_2),
        ("VersionTLS12", ssl.TLSVersion.TLSv1_2),
        ("VersionTLS13", ssl.TLSVersion.TLSv1_3),
    ],
)
def test_lowest_version(flag, version):
    assert serving(tls_min_version=flag).context.minimum_version == version


def test_unknown_version_names_flag_and_known_ones():
    with pytest.raises(TLSError, match=r"--tls-min-version: unknown 'TLS1.2', known are VersionTLS10, .*13"):
        serving(tls_min_version="TLS1.2")


def test_ciphers_have_gos_names():
    suites = ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305")
    context = serving(tls_cipher_suites=suites).context
    assert enabled_ciphers(context) == {"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}


def test_suites_of_version_1_3_choose_nothing():
    chosen = serving(tls_cipher_suites=("TLS_AES_128_GCM_SHA256",)).context
    assert enabled_ciphers(chosen) == enabled_ciphers(serving().context)


def test_unknown_cipher_names_the_flag():
    with pytest.raises(TLSError, match="--tls-cipher-suites: TLS_RSA_WITH_RC4_128_SHA is not supported"):
        serving(tls_cipher_suites=("TLS_RSA_WITH_RC4_128_SHA",))


@pytest.mark.parametrize("options", [{"tls_cert_file": "a"}, {"tls_private_key_file": "a"}])
def test_certificate_and_key_come_together(options):
    with pytest.raises(TLSError, match="have to be given together"):
        serving(**options)


def test_missing_files_are_named():
    with pytest.raises(TLSError, match=r"/nowhere.crt and /nowhere.key: .*No such file"):
        serving(tls_cert_file="/nowhere.crt", tls_private_key_file="/nowhere.key")


def test_rubbish_for_authorities_is_refused():
    with pytest.raises(TLSError, match="client CA: not a list of PEM certificates"):
        serving("rubbish", asks=True)


def test_nothing_new_is_no_reload(authorities):
    context = serving(authorities.client_pem, asks=True)
    assert context.reload(authorities.client_pem) is False
    assert context.reload(authorities.stranger_pem) is True


def test_sessions_are_not_resumed():
    context = serving().context
    assert context.options & ssl.OP_NO_TICKET
    assert context.num_tickets == 0


def test_directory_keeps_the_pair(tmp_path):
    serving(cert_dir=str(tmp_path), component="berth")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["berth.crt", "berth.key"]


def test_client_ca_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "ca"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TLSError, match=r"--client-ca-file .*/ca: "):
        read_client_ca(str(path))
