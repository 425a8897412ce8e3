"""What the model answers in a row of purposes.toml."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.prompts import session as session_prompt
from apps.pipeline.redaction.redact import redact
from benchmarks.model_server import Reply
from benchmarks.model_wire import Asked
from tests.pipeline.answers import memory, new_turns

RELATIONS = ("replaces", "same_as", "contradicts")  # keys of an answer that name known memories
_QUESTION = re.compile(r'<question id="(q\d+)">')
_DAY = re.compile(r"\{day:([+-]\d+)\}")

Row = Mapping[str, Any]


@dataclass(slots=True)
class ScriptedAnswers:
    """What the model answers: to the turns of each step its memories or its raw text, to judges one verdict."""

    row: Row
    failure: Reply | None = None
    asked: list[Asked] = field(default_factory=list)

    def __call__(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if self.failure is not None:
            return self.failure
        if questions := _QUESTION.findall(asked.turns):
            verdict = self.row.get("judge", "unsure")
            return Reply(text=json.dumps({"answers": [{"id": each, "verdict": verdict} for each in questions]}))
        if asked.static[:200] == session_prompt.STATIC[:200]:
            steps = [step for step in self.row["steps"] if "end" in step]
        else:
            shown = {unescape(text) for text in new_turns(asked).values()}  # type: ignore[arg-type]
            steps = [step for step in self.row["steps"] if shown & {_as_shown(text) for _, text in turns_of(step)}]
        raw = [each for step in steps for each in step.get("replies", ())]
        if raw:
            return Reply(text=raw[min(self._times(asked), len(raw)) - 1])
        return Reply(text=json.dumps({"memories": [each for step in steps for each in _answers(step, asked)]}))

    def _times(self, asked: Asked) -> int:
        """Return how often the same new turns were asked about, this time included."""
        return sum(new_turns(each) == new_turns(asked) for each in self.asked)  # type: ignore[arg-type]


def turns_of(step: Row) -> list[tuple[str, str]]:
    """Return the turns of a step as roles and texts; {day:+40} becomes the date in forty days."""
    if "turns" in step:
        return [(role, dated(text)) for role, text in step["turns"]]
    said = step.get("say", [])
    return [("user", dated(text)) for text in ([said] if isinstance(said, str) else said)]


def _as_shown(text: str) -> str:
    """Return a text as a prompt shows it: without secrets."""
    return redact(text, policy=RedactionPolicy()).text


def dated(text: str) -> str:
    """Write dates in place of {day:N}, N days from today."""
    return _DAY.sub(lambda found: f"{datetime.now(UTC) + timedelta(days=int(found[1])):%Y-%m-%d}", text)


def _answers(step: Row, asked: Asked) -> Iterator[dict[str, Any]]:
    """Yield a step's memories with the ids that the prompt gives to its turns and to known memories."""
    turns = {name: unescape(text) for name, text in new_turns(asked).items()}  # type: ignore[arg-type]
    for scripted in step.get("answers", ()):
        given = {key: dated(value) if isinstance(value, str) else value for key, value in scripted.items()}
        said = given.pop("evidence", None) or turns_of(step)[-1][1]
        turn = next((name for name, text in turns.items() if said in text), list(turns)[-1])
        for key in RELATIONS:
            if key in given:
                sentences = [given[key]] if isinstance(given[key], str) else given[key]
                ids = [_known_id(each, asked) for each in sentences]
                given[key] = ids[0] if key == "same_as" else ids
        content, without = given.pop("content"), given.pop("without", ())
        answer = memory(content, evidence=said, turn=turn, **given)
        yield {key: value for key, value in answer.items() if key not in without}


def _known_id(sentence: str, asked: Asked) -> str:
    """Return the id under which a prompt shows a memory; m0 where it doesn't."""
    lines = f"{asked.context}\n{asked.turns}".splitlines()
    found = (re.search(r"\bm\d+\b", line) for line in lines if sentence in unescape(line))
    return next((each[0] for each in found if each), "m0")
