"""The samples for systemd, nginx and Caddy: their programs accept them, and the proxies lead to the product."""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.deploy.files import DEPLOY
from tests.instance import Instance, free_port, migrated_instance, wait_for

HOST = "memory.example.com"
UNITS = sorted((DEPLOY / "systemd").iterdir())
SPEAKING_TLS = ssl._create_unverified_context()  # the certificates are made for the test


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing (Debian: systemd)")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_a_unit(unit: Path, tmp_path: Path) -> None:
    for other in UNITS:  # where its program is installed
        (tmp_path / other.name).write_text(other.read_text().replace("/opt/memplatform/bin/memplatform", "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", str(tmp_path / unit.name)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_units_run_commands_of_the_product() -> None:
    started = {name for unit in UNITS for name in re.findall(r"bin/memplatform (\w+)", unit.read_text())}
    assert started == {"serve", "qcluster", "check_workers"}
    assert started - {"serve"} <= get_commands().keys()


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Instance, int]]:
    port = free_port()
    hosts = f"{HOST},127.0.0.1"
    with migrated_instance(WEB_PORT=str(port), WEB_WORKERS="1", HTTPS="true", ALLOWED_HOSTS=hosts) as instance:
        process = instance.start(*instance.command("serve"))
        wait_for(lambda: _status(port, "/healthz") == 200, instance=instance, process=process)
        yield instance, port


def _nginx(folder: Path, *, port: int, server_port: int) -> list[str]:
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    self_signed = f"openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN={HOST}"
    written = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*self_signed.split(), *written], check=True, capture_output=True)
    sample = (DEPLOY / "proxy/nginx.conf").read_text()
    for shipped, here in (
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("listen 80", f"listen 127.0.0.1:{free_port()}"),
        ("127.0.0.1:8000", f"127.0.0.1:{server_port}"),
        (f"/etc/letsencrypt/live/{HOST}/fullchain.pem", str(certificate)),
        (f"/etc/letsencrypt/live/{HOST}/privkey.pem", str(key)),
    ):
        assert shipped in sample
        sample = sample.replace(shipped, here)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    whole = folder / "nginx.conf"
    owner = "user root;" if os.geteuid() == 0 else ""  # its workers write below the folder of the test
    whole.write_text(f"{owner} pid {folder}/pid; daemon off; events {{}} http {{ access_log off; {folders} {sample} }}")
    return ["nginx", "-c", str(whole), "-e", str(folder / "errors")]


def _caddy(folder: Path, *, port: int, server_port: int) -> list[str]:
    sample = (DEPLOY / "proxy/Caddyfile").read_text()
    assert "127.0.0.1:8000" in sample
    sample = sample.replace("127.0.0.1:8000", f"127.0.0.1:{server_port}")
    sample = sample.replace(f"{HOST} {{", f"{HOST}:{port} {{\n tls internal")
    options = f"{{\n admin off\n skip_install_trust\n http_port {free_port()}\n storage file_system {folder}\n}}\n"
    (folder / "Caddyfile").write_text(options + sample)
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES = {"nginx": _nginx, "caddy": _caddy}


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_product_is_reached_through_a_proxy(proxy: str, server: tuple[Instance, int], tmp_path: Path) -> None:
    if shutil.which(proxy) is None:
        pytest.skip(f"{proxy} is missing")
    instance, server_port = server
    port = free_port()
    process = instance.start(*PROXIES[proxy](tmp_path, port=port, server_port=server_port))
    try:
        wait_for(lambda: _status(port, "/healthz", over_tls=True) == 200, instance=instance, process=process)
        key = instance.new_key(proxy)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        said = {"user_id": "ana", "session_id": "one", "turns": [{"role": "user", "content": "I live in Lisbon."}]}
        assert _answer(port, "POST", "/v1/turns", headers=headers, body=said)[0] == 202
        if proxy == "nginx":  # Caddy passes a body on while it comes, so that a refusal may meet a broken connection
            assert _refusal(port, headers) == (413, "too_large")
        assert _answer(port, "GET", "/console/login/")[0] == 200  # no redirect to https: the header is passed on
        assert _answer(port, "GET", "/metrics")[0] == 403
    finally:
        process.terminate()
        process.wait(timeout=60)


def _refusal(port: int, headers: dict[str, str]) -> tuple[int, str]:
    """Send a body that is too large; return the status and code of the answer."""
    said = {"user_id": "ana", "session_id": "one", "turns": [{"role": "user", "content": "x" * 5_000_000}]}
    status, problem = _answer(port, "POST", "/v1/turns", headers=headers, body=said)
    return status, json.loads(problem)["code"]


def _status(port: int, path: str, *, over_tls: bool = False) -> int:
    try:
        return _answer(port, "GET", path, over_tls=over_tls)[0]
    except OSError:
        return 0


def _answer(
    port: int,
    method: str,
    path: str,
    *,
    headers: dict[str, str] | None = None,
    body: object = None,
    over_tls: bool = True,
) -> tuple[int, bytes]:
    if over_tls:
        connection: http.client.HTTPConnection = _OfHost("127.0.0.1", port, timeout=60, context=SPEAKING_TLS)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    sent = None if body is None else json.dumps(body).encode()
    connection.request(method, path, sent, {"Host": HOST if over_tls else "127.0.0.1", **(headers or {})})
    answer = connection.getresponse()
    return answer.status, answer.read()


class _OfHost(http.client.HTTPSConnection):
    """A connection to an address which asks for the certificate of HOST, as a browser does."""

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = SPEAKING_TLS.wrap_socket(self.sock, server_hostname=HOST)
