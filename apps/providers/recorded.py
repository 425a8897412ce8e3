"""Answers of a model that were written down once for a sample conversation, and are found again by what is asked.

Each line of samples/NAME_answers.jsonl holds the memories of one turn, or a judge's verdict about two sentences:
{"turn": …, "memories": […]} or {"earlier": …, "later": …, "verdict": …}. Memories refer to known ones by their
sentence ("@memory:User lives in Berlin."), to entities by their name ("@entity:Lena").
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, Purpose
from apps.pipeline.prompts.llm_judge import UNSURE
from apps.pipeline.prompts.memory_pairs import PairVerdict
from apps.providers.shown_ids import MEMORY, TURN, ShownIds, shown_ids, shown_questions

PROVIDER = "recorded"
_ENDING = "_answers.jsonl"
_USER = re.compile(r"^e\d+ \| (?P<name>.+?) \| the user\b", re.MULTILINE)
_SAID_ON = re.compile(r"^\(\d{4}-\d\d-\d\d\) ")


def recorded_names() -> tuple[str, ...]:
    """Return the names of the conversations that have recorded answers."""
    return tuple(sorted(file.name.removesuffix(_ENDING) for file in _folder().glob(f"*{_ENDING}")))


@dataclass(frozen=True)
class RecordedModel:
    """Answers what was recorded; other turns tell nothing, and other pairs of statements both hold."""

    conversation: str  # one of recorded_names()

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request."""
        if request.purpose is Purpose.EXTRACT:
            shown = shown_ids(request, name_of=lambda text, _: text)
            user = _USER.search(request.context)
            name = unescape(user["name"]) if user else "User"
            references = dict(shown.references)
            for short, known in shown.references.items():
                if known.startswith(MEMORY):  # recorded answers name the end user "User"
                    references[short] = known.replace(name, "User")
            by_turn = {row["turn"]: row["memories"] for row in self._rows if "turn" in row}
            told = [(turn, memory) for turn in dict.fromkeys(shown.new_turns) for memory in by_turn.get(turn, ())]
            memories = []
            for number, (turn, memory) in enumerate(told, start=1):  # later ones may refer to earlier ones
                found, _ = ShownIds(references, ()).to_shown({**memory, "source_turn_ids": [TURN + turn]})
                references[f"a{number}"] = MEMORY + memory["content"]
                memories.append(found)
            answer: Mapping[str, Any] = {"memories": memories}
        elif request.purpose in (Purpose.JUDGE_PAIRS, Purpose.JUDGE_REFERENCES):
            usual = PairVerdict.BOTH_HOLD if request.purpose is Purpose.JUDGE_PAIRS else UNSURE
            by_pair: Mapping[tuple[str, ...], str] = {
                (row["earlier"], row["later"]): row["verdict"] for row in self._rows if "verdict" in row
            }
            answers = []
            for name, sentences in shown_questions(request).items():
                asked = tuple(_SAID_ON.sub("", sentence) for sentence in sentences)
                answers.append({"id": name, "reason": "", "verdict": by_pair.get(asked, usual)})
            answer = {"answers": answers}
        else:
            answer = {"memories": []}
        return ModelAnswer(text=json.dumps(answer, ensure_ascii=False), model=f"{PROVIDER}:{self.conversation}")

    @cached_property
    def _rows(self) -> Sequence[Mapping[str, Any]]:
        lines = (_folder() / f"{self.conversation}{_ENDING}").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]


def _folder() -> Path:
    return Path(settings.BASE_DIR) / "memplatform" / "samples"
