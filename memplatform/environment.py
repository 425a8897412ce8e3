"""Read settings from environment variables; a value that can't be used is an error that names its variable."""

import builtins
import json
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote

import environ
from django.core.exceptions import ImproperlyConfigured

_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0", ""})
_POSTGRESQL = "django.db.backends.postgresql"


class InvalidSetting(ImproperlyConfigured):
    """A variable has a value that can't be used; the message names it, and no value that may be secret."""


class Environment:
    """The environment of the process, and a file `.env` that it takes precedence over."""

    def __init__(self, file: Any) -> None:
        environ.Env.read_env(file)
        self._env = environ.Env()

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


def _at_least(least: float, value: float, name: str) -> float:
    if not least <= value < float("inf"):
        raise InvalidSetting(f"{name} is {value:g}, but must be at least {least:g}")
    return value
