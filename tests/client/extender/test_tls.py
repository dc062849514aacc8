"""Which servers are trusted, and what is shown to them."""

import ssl

import pytest
import trustme

from scheduler.client.extender.tls import ExtenderTLSError, tls_context
from scheduler.config.types import Extender, ExtenderTLSConfig


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def context(*, https=True, **tls):
    return tls_context(Extender(enable_https=https, tls_config=ExtenderTLSConfig(**tls) if tls else None))


def test_without_an_authority_https_is_not_checked_where_it_is_switched_on():
    assert context().verify_mode is ssl.CERT_NONE


def test_without_any_configuration_the_authorities_of_the_system_count():
    made = context(https=False)
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.check_hostname


def test_insecure_is_not_checked():
    assert context(https=False, insecure=True).verify_mode is ssl.CERT_NONE


def test_an_authority_is_taken_from_data_before_a_file(authority):
    made = context(ca_data=authority.cert_pem.bytes(), ca_file="/missing")
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert len(made.get_ca_certs()) == 1


def test_an_authority_is_read_from_a_file(authority, tmp_path):
    file = tmp_path / "ca.crt"
    file.write_bytes(authority.cert_pem.bytes())
    assert len(context(ca_file=str(file)).get_ca_certs()) == 1


def test_an_authority_and_insecure_exclude_each_other():
    with pytest.raises(ExtenderTLSError, match="specifying a root certificates file with the insecure flag"):
        context(insecure=True, ca_file="/missing")


def test_a_file_that_is_missing_is_named():
    with pytest.raises(ExtenderTLSError, match=r"^open /missing: no such file or directory$"):
        context(cert_file="/missing", key_file="/missing")


def test_what_is_no_certificate_is_refused(authority):
    issued = authority.issue_cert("client.example.com")
    with pytest.raises(ExtenderTLSError):
        context(cert_data=b"none", key_data=issued.private_key_pem.bytes())
    with pytest.raises(ExtenderTLSError):
        context(ca_data="é".encode("latin-1"))


def test_a_certificate_without_its_key_is_not_shown():
    assert context(cert_data=b"never looked at").verify_mode is ssl.CERT_NONE
