"""Open the console's pages as a browser does that follows every link and every choice of a search."""

from collections import Counter, deque
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from django.test import Client
from django.urls import Resolver404, resolve

from tests.distributed.links import links_of

LONGEST_CHOICE = 24  # characters
LEFT_OUT = ("logout", "documentation", "docs")


@dataclass
class Walk:
    """A walk of one person, from some addresses on; `failed` tells which answers were no pages, and why."""

    client: Client
    below: str
    similar: int  # addresses that differ in identifiers alone: so many are opened
    failed: dict[str, str] = field(default_factory=dict)
    opened: Counter[str] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)
    _similar: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _waiting: deque[str] = field(default_factory=deque)

    def run(self, addresses: list[str]) -> None:
        """Open the addresses and all that they lead to."""
        self._add(addresses)
        while self._waiting:
            self._open(self._waiting.popleft())

    def _open(self, address: str) -> None:
        try:
            answer = self.client.get(address)
            body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        except Exception as raised:  # noqa: BLE001  (told at the end, the others are opened as well)
            self.failed[address] = f"{type(raised).__name__}: {raised}"[:600]
            return
        self.opened[resolve(urlsplit(address).path).view_name] += 1
        if answer.status_code >= 400:
            self.failed[address] = f"status {answer.status_code}"
        if answer.status_code in (301, 302):
            self._add([answer["Location"]])
        elif answer.get("Content-Type", "").startswith("text/html"):
            self._add(links_of(body.decode(), address=address))

    def _add(self, addresses: list[str]) -> None:
        for each in addresses:
            choices = self._choices(each)
            if each in self._seen or all(self._similar[choice] >= self.similar for choice in choices):
                continue
            self._seen.add(each)
            self._similar.update(choices)
            self._waiting.append(each)

    def _choices(self, address: str) -> set[tuple[str, ...]]:
        """Return the page of an address and each value of its query; nothing of what is not to be opened.

        An address is opened for a value that was not opened yet; all combinations of values would be too many.
        """
        parts = urlsplit(address)
        try:
            name = resolve(parts.path).view_name
        except Resolver404:
            return set()
        if not parts.path.startswith(self.below) or name.rpartition(":")[2] in LEFT_OUT:
            return set()
        query = parse_qsl(parts.query)
        return {(name,), *((name, key, value if _is_choice(value) else "") for key, value in query)}


def _is_choice(value: str) -> bool:
    """Return True for a word of a list of choices: no number, identifier or text."""
    return len(value) <= LONGEST_CHOICE and any(each.isalpha() for each in value)
