"""Where the API server is and who we are, from kubeconfig files and service accounts."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from base64 import b64encode

import pytest
import trustme
import yaml

from scheduler.client.auth import AuthError, connect, in_cluster

AUTHORITY = trustme.CA()


@pytest.fixture
def kubeconfig(tmp_path):
    """Writes a kubeconfig file with one user, and answers its path."""

    def write(user, **cluster):
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "clusters": [{"name": "k", "cluster": {"server": "https://api.example:6443/"} | cluster}],
            "users": [{"name": "u", "user": user}],
        }
        path = tmp_path / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return str(path)

    return write


@pytest.fixture
def plugin(tmp_path):
    """An exec plugin that gives the token in a file, and counts its runs in another."""
    script = tmp_path / "plugin.py"
    script.write_text(
        "import json, pathlib, sys\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "with (here / 'runs').open('a') as runs: runs.write('x')\n"
        "status = json.loads((here / 'status').read_text())\n"
        "print(json.dumps({'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential',"
        " 'status': status}))\n"
    )

    class Plugin:
        @property
        def user(self):
            command = {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": sys.executable,
                "args": [str(script)],
                "interactiveMode": "Never",
            }
            return {"exec": command}

        def gives(self, **status):
            (tmp_path / "status").write_text(json.dumps(status))

        @property
        def runs(self):
            return len((tmp_path / "runs").read_text())

    return Plugin()


async def header(connection, **options):
    return (await connection.authorize(**options)).get("Authorization")


class TestKubeconfig:
    async def test_with_a_token(self, kubeconfig):
        connection = await connect(kubeconfig({"token": "abc"}))
        assert connection.base_url == "https://api.example:6443"
        assert await header(connection) == "Bearer abc"
        assert connection.ssl.verify_mode == ssl.CERT_REQUIRED

    async def test_with_name_and_password(self, kubeconfig):
        connection = await connect(kubeconfig({"username": "a", "password": "b"}))
        assert await header(connection) == "Basic " + b64encode(b"a:b").decode()

    async def test_with_a_client_certificate_inline(self, kubeconfig):
        certificate = AUTHORITY.issue_cert("me@example.org")
        user = {
            "client-certificate-data": b64encode(certificate.cert_chain_pems[0].bytes()).decode(),
            "client-key-data": b64encode(certificate.private_key_pem.bytes()).decode(),
        }
        data = b64encode(AUTHORITY.cert_pem.bytes()).decode()
        connection = await connect(kubeconfig(user, **{"certificate-authority-data": data}))
        assert await header(connection) is None
        assert len(connection.ssl.get_ca_certs()) == 1

    async def test_with_a_token_file_that_rotates(self, kubeconfig, tmp_path):
        now = 0.0
        (tmp_path / "token").write_text("one\n")
        connection = await connect(kubeconfig({"tokenFile": "token"}), clock=lambda: now)
        assert await header(connection) == "Bearer one"
        (tmp_path / "token").write_text("two\n")
        assert await header(connection) == "Bearer one"
        now = 61.0
        assert await header(connection) == "Bearer two"

    async def test_with_proxy_server_name_and_no_verification(self, kubeconfig):
        cluster = {"proxy-url": "http://proxy:3128", "tls-server-name": "api", "insecure-skip-tls-verify": True}
        connection = await connect(kubeconfig({}, **cluster))
        assert (connection.proxy, connection.server_hostname) == ("http://proxy:3128", "api")
        assert connection.ssl.verify_mode == ssl.CERT_NONE

    async def test_master_replaces_the_address(self, kubeconfig):
        connection = await connect(kubeconfig({"token": "abc"}), master="http://127.0.0.1:8080/")
        assert (connection.base_url, connection.ssl) == ("http://127.0.0.1:8080", None)

    async def test_in_the_environment_is_found(self, kubeconfig, monkeypatch):
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
        monkeypatch.setenv("KUBECONFIG", kubeconfig({"token": "abc"}))
        assert await header(await connect()) == "Bearer abc"

    @pytest.mark.parametrize("text", ["", "current-context: x", "[", "contexts: 5\ncurrent-context: c"])
    async def test_that_is_no_good_is_named(self, tmp_path, text):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(AuthError, match=r"kubeconfig .*/bad: "):
            await connect(str(tmp_path / "bad"))

    async def test_that_is_missing_is_named(self, tmp_path):
        with pytest.raises(AuthError, match=r"kubeconfig .*/none: "):
            await connect(str(tmp_path / "none"))

    async def test_with_a_bad_certificate_is_named(self, kubeconfig):
        user = {"client-certificate-data": b64encode(b"x").decode(), "client-key-data": b64encode(b"y").decode()}
        with pytest.raises(AuthError, match=r"certificates for https://api\.example:6443"):
            await connect(kubeconfig(user))


class TestExecPlugin:
    async def test_gives_a_token_that_is_used_until_it_is_refused(self, kubeconfig, plugin):
        plugin.gives(token="one")
        connection = await connect(kubeconfig(plugin.user))
        assert await header(connection) == await header(connection) == "Bearer one"
        assert plugin.runs == 1
        plugin.gives(token="two")
        assert await header(connection, renew=True) == "Bearer two"
        assert plugin.runs == 2

    async def test_is_asked_again_when_its_token_expires(self, kubeconfig, plugin):
        now = 1000.0
        plugin.gives(token="one", expirationTimestamp="2020-01-01T00:00:00Z")
        connection = await connect(kubeconfig(plugin.user), clock=lambda: now)
        plugin.gives(token="two", expirationTimestamp="2120-01-01T00:00:00Z")
        now = 1061.0
        assert await header(connection) == "Bearer two"
        now = 1200.0
        assert await header(connection) == "Bearer two"
        assert plugin.runs == 2

    async def test_that_fails_later_leaves_the_old_token_in_use(self, kubeconfig, plugin, caplog):
        plugin.gives(token="one")
        connection = await connect(kubeconfig(plugin.user))
        plugin.gives(neither="token nor certificate")
        (await connection.authorize(renew=True))
        assert await header(connection) == "Bearer one"

    async def test_that_fails_at_first_is_an_error(self, kubeconfig):
        user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nonexistent"}}
        with pytest.raises(AuthError, match="nonexistent"):
            await connect(kubeconfig(user))


class TestInCluster:
    @pytest.fixture
    def account(self, tmp_path, monkeypatch):
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        (tmp_path / "token").write_text("one")
        AUTHORITY.cert_pem.write_to_path(tmp_path / "ca.crt")
        return tmp_path

    async def test_reads_the_service_account(self, account):
        connection = in_cluster(account=account)
        assert connection.base_url == "https://10.0.0.1:443"
        assert await header(connection) == "Bearer one"

    async def test_a_refused_token_is_read_again_at_once(self, account):
        connection = in_cluster(account=account)
        assert await header(connection) == "Bearer one"
        (account / "token").write_text("two")
        assert await header(connection, renew=True) == "Bearer two"

    async def test_a_token_that_is_being_rewritten_leaves_the_old_one_in_use(self, account, caplog):
        connection = in_cluster(account=account)
        await header(connection)
        (account / "token").write_text("")
        assert await header(connection, renew=True) == "Bearer one"
        assert "the last token stays in use" in caplog.text

    async def test_without_its_files_says_what_is_missing(self, account):
        (account / "token").unlink()
        with pytest.raises(AuthError, match="in-cluster configuration: Service token file does not exist"):
            in_cluster(account=account)


def test_the_client_library_is_not_imported_before_it_is_needed():
    code = (
        "import scheduler.client.auth, scheduler.client.informers, scheduler.client.dispatcher, sys;"
        "sys.exit('kubernetes_asyncio' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
