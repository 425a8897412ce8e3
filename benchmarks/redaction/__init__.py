"""How much of the sensitive data in labelled texts redaction finds, and how much of what it replaces is sensitive.

Recall counts values of which nothing is left; precision counts the replaced places that lie within a value. The cases
are those of cases.toml; values are invented, with correct check digits.
"""

import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from apps.pipeline.core.enums import Handling
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import findings

NAME = "redaction"
CASES = Path(__file__).with_name("cases.toml")
POLICY = RedactionPolicy(phone=Handling.MASK, email=Handling.MASK)
_LONG_TEXT = 2_000  # characters, of the text that is timed


@dataclass(frozen=True, slots=True)
class RedactionCase:
    """A text and the place of its one value; a look-alike has none."""

    kind: str
    text: str
    start: int = 0
    end: int = 0


def run(*, data: Path | None = None, full: bool = False) -> dict[str, object]:
    """Return recall, precision, recall by kind and the milliseconds for 2,000 characters."""
    cases = list(shipped_cases())
    held: Counter[str] = Counter()
    found: Counter[str] = Counter()
    right = replaced = 0
    wrong: dict[str, list[str]] = {}
    for case in cases:
        places = [(each.start, each.end) for each in findings(case.text, policy=POLICY)]
        inside = [place for place in places if case.start <= place[0] and place[1] <= case.end]
        is_covered = any(start <= case.start and case.end <= end for start, end in places)
        held[case.kind] += case.end > case.start
        found[case.kind] += case.end > case.start and is_covered
        right, replaced = right + len(inside), replaced + len(places)
        if len(inside) < len(places) or (case.end > case.start and not is_covered):
            wrong[case.text] = [case.text[start:end] for start, end in places]
    return {
        "cases": len(cases),
        "recall": round(found.total() / held.total(), 4),
        "precision": round(right / replaced, 4),
        "by_kind": {kind: round(found[kind] / count, 4) for kind, count in held.items() if count},
        "ms_per_2000_characters": _milliseconds(cases),
        "detail": wrong,
    }


def shipped_cases() -> Iterator[RedactionCase]:
    """Yield the cases of cases.toml."""
    table = tomllib.loads(CASES.read_text(encoding="utf-8"))
    for group in table["values"]:
        for value in map("".join, group["parts"]):
            for frame in group["frames"]:
                start = frame.index("{v}")
                yield RedactionCase(group["kind"], frame.replace("{v}", value), start, start + len(value))
    for text in table["look_alikes"]["texts"]:
        yield RedactionCase("look_alike", text)


def _milliseconds(cases: list[RedactionCase]) -> float:
    """Return the median time for a text of 2,000 characters, made of the cases."""
    words = "\n".join(case.text for case in cases)
    texts = [words[at : at + _LONG_TEXT] for at in range(0, len(words) - _LONG_TEXT, _LONG_TEXT)]
    times = []
    for text in texts:
        started = time.perf_counter()
        findings(text, policy=POLICY)
        times.append(time.perf_counter() - started)
    return round(sorted(times)[len(times) // 2] * 1_000, 2)
