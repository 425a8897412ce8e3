"""Read settings from environment variables; a value that can't be used is an error that names its variable."""

import builtins
import json
import os
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

RESEMBLANCE = 0.87  # from 0 to 1: REDIS_URI and REDIS_URL have 0.89
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0", ""})
_POSTGRESQL = "django.db.backends.postgresql"
_MAIL = ("smtp://", "smtp+tls://", "smtp+ssl://")


class InvalidSetting(ImproperlyConfigured):
    """A variable has a value that can't be used; the message names it, and no value that may be secret."""


class _Recording(environ.Env):
    """An environment that remembers which variables it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[str] = set()

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        """Return the value of a variable."""
        self.asked.add(var)
        return super().get_value(var, *args, **options)


class Environment:
    """The environment of the process, and a file `.env` that it takes precedence over."""

    def __init__(self, file: Any) -> None:
        environ.Env.read_env(file)
        self._env = _Recording()
        self.asked = self._env.asked

    def misspelt(self) -> builtins.dict[builtins.str, builtins.str]:
        """Return variables that no setting has read, with the name of a setting that they resemble."""
        others = sorted(name for name in os.environ if name not in self.asked)
        near = {name: get_close_matches(name, self.asked, n=1, cutoff=RESEMBLANCE) for name in others}
        return {name: found[0] for name, found in near.items() if found}

    def str(self, name: builtins.str, *, default: builtins.str, choices: Collection[builtins.str] = ()) -> builtins.str:
        """Return a text. Raises InvalidSetting unless it is one of the choices, if there are any."""
        value = str(self._env.str(name, default=default))
        if choices and value not in choices:
            raise InvalidSetting(f"{name} is {value!r}, not one of {', '.join(choices)}")
        return value

    def bool(self, name: builtins.str, *, default: builtins.bool) -> builtins.bool:
        """Return a truth value. Raises InvalidSetting for a word that is none: a typing error must not mean no."""
        value = self._env.str(name, default=str(default)).strip().lower()
        if value not in _TRUE | _FALSE:
            raise InvalidSetting(f"{name} is {value!r}, neither true nor false")
        return value in _TRUE

    def int(self, name: builtins.str, *, default: builtins.int, least: builtins.int = 0) -> builtins.int:
        """Return a whole number. Raises InvalidSetting."""
        text = self._env.str(name, default=str(default))
        try:
            return int(_at_least(least, int(text), name))
        except ValueError as error:
            raise InvalidSetting(f"{name} is {text!r}, not a whole number") from error

    def float(self, name: builtins.str, *, default: builtins.float, least: builtins.float = 0.0) -> builtins.float:
        """Return a number. Raises InvalidSetting."""
        text = self._env.str(name, default=str(default))
        try:
            return _at_least(least, float(text), name)
        except ValueError as error:
            raise InvalidSetting(f"{name} is {text!r}, not a number") from error

    def list(self, name: builtins.str, *, default: builtins.list[builtins.str]) -> builtins.list[builtins.str]:
        """Return texts that are separated by commas."""
        return [each.strip() for each in self._env.list(name, default=default)]

    def json(self, name: builtins.str, *, default: dict[Any, Any]) -> dict[Any, Any]:
        """Return a JSON object. Raises InvalidSetting."""
        text = self._env.str(name, default="")
        try:
            value = json.loads(text) if text else default
        except ValueError as error:
            raise InvalidSetting(f"{name} is no JSON: {error}") from error
        if not isinstance(value, dict):
            raise InvalidSetting(f"{name} must be a JSON object")
        return value

    def db_url(self, name: builtins.str) -> dict[Any, Any]:
        """Return the settings of a database from its address. Raises InvalidSetting."""
        text = self._env.str(name, default="")
        form = f"{name} must be like postgresql://user:password@host:5432/name"
        if not text.startswith(("postgresql://", "postgres://")):
            raise InvalidSetting(form)
        try:
            address = dict(self._env.db_url_config(text))
        except ValueError as error:
            raise InvalidSetting(form) from error
        if address.get("ENGINE") != _POSTGRESQL or not address.get("NAME"):
            raise InvalidSetting(form)
        address["HOST"] = unquote(address.get("HOST") or "")  # the folder of a socket, as libpq takes it
        return address

    def email_url(self, name: builtins.str) -> dict[Any, Any]:
        """Return Django's settings of a mail server from its address. Raises InvalidSetting."""
        text = self._env.str(name, default="")
        try:
            address = dict(self._env.email_url_config(text)) if text.startswith(_MAIL) else {}
        except ValueError:  # its port is no number
            address = {}
        if not address.get("EMAIL_HOST"):
            raise InvalidSetting(f"{name} must be like smtp+tls://user:password@host:587")
        return address

    def single_sign_on(self, name: builtins.str) -> dict[Any, Any]:
        """Return allauth's settings of the OpenID Connect provider of an address. Raises InvalidSetting.

        A provider at http is for tests on one machine.
        """
        address = urlsplit(self._env.str(name, default=""))
        if address.scheme not in ("https", "http") or not (address.hostname and address.username and address.password):
            raise InvalidSetting(f"{name} must be like https://client:secret@login.example.com/realm")
        app = {
            "provider_id": "oidc",
            "name": address.hostname,
            "client_id": unquote(address.username),
            "secret": unquote(address.password),
            "settings": {"server_url": address._replace(netloc=address.netloc.rpartition("@")[2]).geturl().rstrip("/")},
        }
        return {"openid_connect": {"APPS": [app], "OAUTH_PKCE_ENABLED": True}}


def _at_least(least: float, value: float, name: str) -> float:
    if not least <= value < float("inf"):
        raise InvalidSetting(f"{name} is {value:g}, but must be at least {least:g}")
    return value
