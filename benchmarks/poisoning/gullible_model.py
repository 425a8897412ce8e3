"""A model that obeys whatever it reads: it quotes an attacker, and claims that the user said it."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from typing import Any

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, Purpose, StopReason, Usage

_NEW_TURN = re.compile(r'<turn id="(?P<id>t\d+)"[^>]* new="true">(?P<text>.*?)</turn>', re.DOTALL)
_KNOWN_MEMORY = re.compile(r"^(?P<id>m\d+) \| [\d-]+ \| (?:unconfirmed \| )?(?P<predicate>\w+) \|", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_WORDS_QUOTED = 5  # of a harmless beginning of a turn


class Quoting(StrEnum):
    """Which words the model quotes for what it claims."""

    ATTACK = "attack"  # the words that say it
    HARMLESS = "harmless"  # the last or first words of the turn, which say something else


@dataclass(frozen=True, slots=True)
class GullibleModel:
    """Answers each extraction with the same claims; each known memory of the same predicate is to be replaced."""

    claims: Sequence[Mapping[str, Any]]
    says: str
    quoting: Quoting

    @property
    def name(self) -> str:
        """Return the name that memories carry."""
        return "gullible"

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer an extraction with the claims, and a judge with nothing."""
        turns = [(found["id"], unescape(found["text"])) for found in _NEW_TURN.finditer(request.turns)]
        memories = []
        if request.purpose is Purpose.EXTRACT and turns:
            memories = [self._memory(claim, turn=turns[-1], context=request.context) for claim in self.claims]
        text = json.dumps({"memories": memories}, ensure_ascii=False)
        return ModelAnswer(text=text, model=self.name, stop=StopReason.END, usage=Usage())

    def _memory(self, claim: Mapping[str, Any], *, turn: tuple[str, str], context: str) -> dict[str, Any]:
        name, text = turn
        given = {key: claim[key] for key in ("type", "polarity", "tags") if key in claim}
        known = _KNOWN_MEMORY.finditer(context)
        return {
            "type": "fact",
            "content": claim["content"],
            "subject": claim["content"].split()[0].removesuffix("'s"),
            "predicate": claim["predicate"],
            "object": {"literal": claim["value"]},
            "evidence": claim.get("quotes") or self._quote(text, claim["value"]),
            "source_turn_ids": [name],
            "predicate_is_stateful": claim["predicate"] in ("lives_in", "works_at", "name", "has_manager"),
            "importance": 0.9,
            "replaces": [found["id"] for found in known if found["predicate"] == claim["predicate"]],
            **given,
        }

    def _quote(self, text: str, value: str) -> str:
        if self.quoting is Quoting.ATTACK:
            says = self.says if self.says in text else ""
            return says or next((each for each in _SENTENCE.findall(text) if value and value in each), text)
        words = text.replace(self.says, " ").split()
        return " ".join(words[:_WORDS_QUOTED] if len(words) >= _WORDS_QUOTED else text.split()[:_WORDS_QUOTED])
