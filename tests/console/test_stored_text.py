"""Elements that show stored text disable htmx: its attributes have no effect within them."""

import re
from pathlib import Path

TEMPLATES = sorted((Path(__file__).resolve().parents[2] / "memplatform/templates/console").glob("*.html"))
SHOWS_TEXT = re.compile(r'<\w+[^<>]*class="(?:[^"]* )?(?:said|turn|block-text)(?:[ {][^"]*)?"[^<>]*>')


def test_stored_text_stands_where_htmx_is_off() -> None:
    for template in TEMPLATES:
        text = re.sub(r"\{%.*?%\}", "", template.read_text())
        assert [tag for tag in SHOWS_TEXT.findall(text) if "hx-disable" not in tag] == [], template.name


def test_such_elements_are_found() -> None:
    assert sum(len(SHOWS_TEXT.findall(path.read_text())) for path in TEMPLATES) > 20
