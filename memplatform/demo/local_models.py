"""Look for a server of models on this machine, to tell the visitor how to use it."""

import json
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

TIMEOUT = 0.3  # seconds
# Name, address, the path that lists the models, the key of the list and the key of a model's name.
SERVERS = (
    ("Ollama", "http://127.0.0.1:11434", "/api/tags", "models", "name"),
    ("LM Studio", "http://127.0.0.1:1234", "/v1/models", "data", "id"),
)
_NAME = re.compile(r"[\w.:/@-]+")
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of a server on this machine."""

    server: str
    address: str
    name: str

    @property
    def command(self) -> str:
        """Return the command that starts the demo with the model."""
        return f"MODEL=openai:{self.name} OPENAI_BASE_URL={self.address}/v1 make demo"


def local_model() -> LocalModel | None:
    """Return the first model found; None without a server that answers at once."""
    for server, address, path, models, name in SERVERS:
        for found in _names(address + path, models=models, name=name):
            if _NAME.fullmatch(found) and "embed" not in found:
                return LocalModel(server, address, found)
    return None


def _names(address: str, *, models: str, name: str) -> Iterator[str]:
    try:
        with _open(address, timeout=TIMEOUT) as answer:
            yield from (str(each[name]) for each in json.loads(answer.read())[models])
    except (OSError, ValueError, LookupError, TypeError):
        return
