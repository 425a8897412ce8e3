"""A fake model that returns the first statement of each new turn as a fact, to exercise the whole pipeline."""

import json
import re
from html import unescape

_NEW_TURN = re.compile(r'<turn id="(?P<id>t\d+)"(?P<attributes>[^>]*) new="true">(?P<text>.*?)</turn>', re.DOTALL)
_SPEAKER = re.compile(r'speaker="(?P<name>[^"]*)"')
_SENTENCE = re.compile(r"[^.!?\n]{12,200}[.!]")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|my|we|our)\b", re.IGNORECASE)


def answer_to(turns: str) -> str:
    """Return a JSON answer with one fact per new turn that says something about its speaker."""
    memories = [memory for found in _NEW_TURN.finditer(turns) if (memory := _memory(found))]
    return json.dumps({"memories": memories}, ensure_ascii=False)


def _memory(found: re.Match[str]) -> dict[str, object] | None:
    match = _SENTENCE.search(unescape(found["text"]))
    if match is None or not _FIRST_PERSON.search(match[0]):
        return None
    named = _SPEAKER.search(found["attributes"])
    quote = match[0].strip()
    return {
        "type": "fact",
        "content": f'{unescape(named["name"]) if named else "User"} says: "{quote}"',
        "subject": "user",
        "predicate": "says",
        "object": {"literal": quote},
        "evidence": quote,
        "source_turn_ids": [found["id"]],
    }
