"""Builders for the answers of models."""

import json
import re
from typing import Any

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, StopReason


def memory(content: str, *, evidence: str, turn: str = "t1", **changes: Any) -> dict[str, Any]:
    """Build a fact of the speaker; `value` is its literal object."""
    value = changes.pop("value", None)
    given: dict[str, Any] = {
        "type": "fact",
        "content": content,
        "subject": "user",
        "predicate": "says",
        "evidence": evidence,
        "source_turn_ids": [turn],
    }
    return {**given, **({"object": {"literal": value}} if value else {}), **changes}


def listing(*memories: Any) -> str:
    return json.dumps({"memories": list(memories)})


def answer(text: str, *, stop: StopReason = StopReason.END) -> ModelAnswer:
    return ModelAnswer(text=text, model="scripted", stop=stop)


def new_turns(request: ModelRequest) -> dict[str, str]:
    """Return the texts of the new turns by their ids, as a model sees them."""
    found = re.findall(r'<turn id="(t\d+)"[^>]* new="true">(.*?)</turn>', request.turns, re.DOTALL)
    return dict(found)
