"""Translate a request of the web server to the WSGI environment that Django reads."""

import io
import sys
from functools import lru_cache
from typing import Any

from memplatform.serving.protocol import Scope

_OWN_KEYS = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}
_SEPARATORS = {"cookie": "; "}  # commas occur in cookies


def wsgi_environ(scope: Scope, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment of a request whose body has been read."""
    host, _, port = scope.server.rpartition(":")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": _as_latin1(scope.path),
        "QUERY_STRING": _as_latin1(scope.query_string),
        "SERVER_NAME": host.strip("[]"),
        "SERVER_PORT": port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        **_header_keys(scope),
    }
    environ.setdefault("HTTP_HOST", scope.authority or "")
    return environ


def _header_keys(scope: Scope) -> dict[str, str]:
    """Return the headers under their WSGI keys, repeated ones joined.

    A header with an underscore is left out: it would pass for the one with a hyphen that a proxy has checked.
    """
    keys: dict[str, str] = {}
    for name, value in scope.headers.items():
        if "_" in name:
            continue
        key = _key_of(name)
        keys[key] = f"{keys[key]}{_SEPARATORS.get(name, ',')}{value}" if key in keys else value
    return keys


@lru_cache(maxsize=256)
def _key_of(name: str) -> str:
    return _OWN_KEYS.get(name) or f"HTTP_{name.replace('-', '_').upper()}"


def _as_latin1(text: str) -> str:
    """Return UTF-8 bytes in the form in which WSGI passes them."""
    return text.encode().decode("latin-1")
