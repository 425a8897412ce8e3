"""A key that a page shows beside a button is not taken by the keys of every page."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SCRIPT = (PROJECT / "memplatform/static/memplatform/console.js").read_text()
TEMPLATES = sorted((PROJECT / "memplatform/templates/console").glob("*.html"))


def test_no_button_has_a_key_of_every_page() -> None:
    everywhere = re.search(r"const builtIn = \{(.*?)\n\};", SCRIPT, re.DOTALL)
    assert everywhere is not None
    taken = set(re.findall(r'^    "?(.)"?: \(\) =>', everywhere[1], re.MULTILINE))
    assert {"j", "u", "/"} <= taken
    shown = {(path.name, key) for path in TEMPLATES for key in re.findall(r'data-key="(.)"', path.read_text())}
    assert len(shown) > 20
    assert {(name, key) for name, key in shown if key in taken} == set()
