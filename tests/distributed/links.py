"""Which addresses a page leads to: its links, what it loads later, and its searches with each of their choices."""

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin

# What is typed into fields that are empty, by their names; all others stay empty.
TYPED = {"q": "Lisbon", "user": "ben", "actor": "person", "text": "I live in Lisbon."}


class PageLinks(HTMLParser):
    """Collects the addresses of one page while it is fed."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._form: str | None = None  # the address of the open form, if it is one that only reads
        self._choices: dict[str, list[str]] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.found += [given[name] for name in ("href", "hx-get") if given.get(name)]
        if tag == "form":
            reads = given.get("method", "get").lower() == "get" and "hx-post" not in given
            self._form, self._choices = (given.get("action", "") if reads else None), {}
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and self._select:
            self._choices.setdefault(self._select, []).append(given.get("value", ""))
        elif tag == "input" and given.get("name"):
            self._choices.setdefault(given["name"], []).append(given.get("value") or TYPED.get(given["name"], ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "form" and self._form is not None:
            self.found += [f"{self._form}?{urlencode(each)}" for each in self._submitted()]
            self._form = None

    def _submitted(self) -> Iterator[dict[str, str]]:
        """Yield what the form sends: as it is shown, and with each other choice of one of its fields."""
        shown = {name: values[0] for name, values in self._choices.items()}
        yield shown
        for name, values in self._choices.items():
            yield from ({**shown, name: value} for value in values[1:])


def links_of(page: str, *, address: str) -> list[str]:
    """Return the addresses that a page leads to, of the same server, without fragments."""
    parser = PageLinks()
    parser.feed(page)
    absolute = (urljoin(address, each).partition("#")[0] for each in parser.found)
    return [each for each in absolute if each.startswith("/")]
