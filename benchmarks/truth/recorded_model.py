"""A model whose answers were written down once, by a capable reader or model, and are found again by what is asked.

An extraction is found by its purpose and the new turns that it shows, a judge's question by its sentences, the
questions of a statement by the statement. What a
prompt says besides, what is known and how it is worded, does not count: the product may change and the answers stay.
An answer to another version of the prompt is used and counted, unless somebody is there to answer the new one.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, Purpose
from apps.providers.shown_ids import ShownIds, shown_questions
from benchmarks.truth.by_hand import ByHand
from benchmarks.truth.faulty_answers import AnswerFault, faulty
from benchmarks.truth.gold import GoldTurn
from benchmarks.truth.references import shown_ids

NAME = "recorded"
EXTRACTIONS = frozenset({Purpose.EXTRACT, Purpose.EXTRACT_SESSION})
_STATEMENT = re.compile(r"^(?P<id>m\d+) \| (?P<sentence>.*?)(?: \| quote: .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded answer: to an extraction, or to one question of a judge."""

    purpose: str
    prompt_version: str
    asked: tuple[str, ...]  # the new turns, or a question's sentences
    answer: Any


@dataclass(slots=True)
class RecordedAnswers:
    """The recorded answers of one conversation, and the file that holds them, one per line."""

    file: Path
    recordings: list[Recording] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> "RecordedAnswers":
        """Read a file; one that doesn't exist yet holds nothing."""
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        rows = (json.loads(line) for line in lines if line.strip())
        return cls(file, [Recording(**row | {"asked": tuple(row["asked"])}) for row in rows])

    def find(self, *, purpose: str, asked: tuple[str, ...]) -> dict[str, Recording]:
        """Return the answers by prompt version; of several to one version the last one counts."""
        found = (each for each in self.recordings if (each.purpose, each.asked) == (purpose, asked))
        return {each.prompt_version: each for each in found}

    def add(self, recording: Recording) -> None:
        """Append an answer to the file."""
        self.recordings.append(recording)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as lines:
            row = {name: getattr(recording, name) for name in ("purpose", "prompt_version", "asked", "answer")}
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")


@dataclass(slots=True)
class RecordedModel:
    """Answers what was recorded for a conversation; asks by hand, where that is possible, what was not."""

    turns: Sequence[GoldTurn]
    answers: RecordedAnswers
    by_hand: ByHand | None = None
    fault: AnswerFault | None = None  # of every answer to an extraction
    counts: Counter[str] = field(default_factory=Counter)
    unknown_references: list[str] = field(default_factory=list)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request; what was never answered has the empty list for an answer, and is counted as missed."""
        self.counts.update(calls=1, **{f"calls_{request.purpose}": 1})
        if request.purpose in EXTRACTIONS:
            answer = self._extraction(request)
        elif request.purpose is Purpose.INDEX_QUESTIONS:
            answer = self._questions(request)
        else:
            answer = self._judgement(request)
        return ModelAnswer(text=json.dumps(answer, ensure_ascii=False), model=NAME)

    def _extraction(self, request: ModelRequest) -> Any:
        shown = shown_ids(request, turns=self.turns)
        recorded = self._recorded(request, shown.new_turns) or self._joined(request, shown.new_turns)
        if recorded is None and self.by_hand is not None:
            given = self.by_hand.ask(request)
            recorded = self._record(request, shown.new_turns, shown.to_stable(given))
        if recorded is None:
            self.counts.update(missed=1)
            return {"memories": []}
        return self._shown_again(recorded, shown)

    def _joined(self, request: ModelRequest, asked: tuple[str, ...]) -> Recording | None:
        """Return what was answered to parts of the turns, or to more of them.

        Which small talk is left out of a prompt changes with the product; what the other turns tell does not.
        """
        if self.by_hand is not None:
            return None
        of_purpose = [each for each in self.answers.recordings if each.purpose == request.purpose.value]
        parts = [each for each in of_purpose if set(each.asked) <= set(asked)]
        parts = parts or [each for each in of_purpose if set(asked) <= set(each.asked)][-1:]
        if not parts:
            return None
        answer = {}
        for key in ("memories", "ends", "forget"):
            found = {json.dumps(one, sort_keys=True): one for each in parts for one in each.answer.get(key, ())}
            answer[key] = list(found.values())
        return Recording(request.purpose.value, request.prompt_version, asked, answer)

    def _shown_again(self, recorded: Recording, shown: ShownIds) -> Any:
        answer, missing = shown.to_shown(recorded.answer)
        self.unknown_references += missing
        return faulty(answer, fault=self.fault, shown=shown) if self.fault else answer

    def _judgement(self, request: ModelRequest) -> Any:
        asked = shown_questions(request)
        found = {name: self._recorded(request, sentences) for name, sentences in asked.items()}
        if self.by_hand is not None and None in found.values():
            given = {each["id"]: each for each in self.by_hand.ask(request).get("answers", ())}
            for name in (name for name, recorded in found.items() if recorded is None and name in given):
                answer = {key: value for key, value in given[name].items() if key != "id"}
                found[name] = self._record(request, asked[name], answer)
        self.counts.update(missed=sum(recorded is None for recorded in found.values()))
        return {"answers": [{"id": name, **each.answer} for name, each in found.items() if each is not None]}

    def _questions(self, request: ModelRequest) -> Any:
        """Answer with the questions of each statement; one that was never asked for has none."""
        asked = {found["id"]: (unescape(found["sentence"]),) for found in _STATEMENT.finditer(request.turns)}
        found = {name: self._recorded(request, sentence) for name, sentence in asked.items()}
        if self.by_hand is not None and None in found.values():
            given = {each["id"]: each["questions"] for each in self.by_hand.ask(request).get("memories", ())}
            for name in (name for name, recorded in found.items() if recorded is None and name in given):
                found[name] = self._record(request, asked[name], given[name])
        self.counts.update(missed=sum(recorded is None for recorded in found.values()))
        return {"memories": [{"id": name, "questions": each.answer} for name, each in found.items() if each]}

    def _recorded(self, request: ModelRequest, asked: tuple[str, ...]) -> Recording | None:
        found = self.answers.find(purpose=request.purpose.value, asked=asked)
        if request.prompt_version in found:
            return found[request.prompt_version]
        if not found or self.by_hand is not None:
            return None
        self.counts.update(of_another_prompt=1)
        return list(found.values())[-1]

    def _record(self, request: ModelRequest, asked: tuple[str, ...], answer: Any) -> Recording:
        recording = Recording(request.purpose.value, request.prompt_version, asked, answer)
        self.answers.add(recording)
        return recording
