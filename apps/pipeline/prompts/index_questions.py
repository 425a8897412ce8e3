"""The prompt that asks for the questions that memories answer, to be indexed beside them (HyPE)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from apps.pipeline.core.input_validation import storable
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, Purpose

STATIC = Path(__file__).with_name("index_questions.xml").read_text(encoding="utf-8")
VERSION = f"questions-{hashlib.sha256(STATIC.encode()).hexdigest()[:12]}"
MAX_STATEMENT = 500  # characters
MAX_QUESTION = 200  # characters
TOKENS_PER_MEMORY = 128  # of an answer with three questions and further words


@dataclass(frozen=True, slots=True)
class AskedStatement:
    """A statement whose questions are wanted, with its quote where that is in another language."""

    content: str
    foreign_quote: str = ""


class MemoryQuestions(BaseModel):
    """The questions that one memory answers; the last entry holds further words by which it may be looked for."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(max_length=8)
    questions: tuple[str, ...] = Field(max_length=20)


class QuestionsAnswer(BaseModel):
    """The whole answer."""

    memories: tuple[MemoryQuestions, ...]


SCHEMA = QuestionsAnswer.model_json_schema()


def render(*, statements: Sequence[AskedStatement], also_writes: str = "", model: str) -> ModelRequest:
    """Return the request for the questions of some statements; `also_writes` is a quote in another language."""
    lines = []
    for number, each in enumerate(statements, start=1):
        quote = [f"quote: {each.foreign_quote}"] if each.foreign_quote else []
        lines.append(" | ".join((f"m{number}", *map(_shown, [each.content, *quote]))))
    foreign = (f"<also_writes>{_shown(also_writes)}</also_writes>",) if also_writes else ()
    return ModelRequest(
        purpose=Purpose.INDEX_QUESTIONS,
        prompt_version=VERSION,
        static=STATIC,
        context="",
        turns="\n".join(("<statements>", *lines, "</statements>", *foreign)),
        schema=SCHEMA,
        max_tokens=TOKENS_PER_MEMORY * (len(statements) + 1),
        model=model,
    )


def questions_in(answer: ModelAnswer, *, count: int, most: int) -> list[tuple[str, ...]] | None:
    """Return up to `most` questions for each of `count` statements, in their order; None for what is no answer.

    A statement that the answer leaves out has none. Nothing in the text can raise.
    """
    read = answer.read(QuestionsAnswer)
    if read is None:
        return None
    found = {each.id: each.questions for each in read.memories}
    cleaned: list[tuple[str, ...]] = []
    for number in range(1, count + 1):
        given = found.get(f"m{number}", ())
        texts = (" ".join(storable(unescape(each)).split())[:MAX_QUESTION] for each in given)  # escaped in the prompt
        cleaned.append(tuple(dict.fromkeys(text for text in texts if text))[:most])
    return cleaned


def _shown(text: str) -> str:
    return escape(" ".join(storable(text).split())[:MAX_STATEMENT], quote=False)
