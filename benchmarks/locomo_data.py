"""Read LoCoMo: conversations, turns, observations and questions.

LoCoMo (Maharana et al., 2024) is licensed under CC BY-NC 4.0: for evaluation only, never part of this repository.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = "locomo_dev.json"
_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class LocomoTurn:
    """One message; `id` is LoCoMo's dia_id."""

    id: str
    session: int
    speaker: str
    text: str
    said_at: datetime | None
    caption: str = ""  # a model's description of an attached image


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """One question with the turns that answer it; category 5 is adversarial."""

    question: str
    answer: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LocomoObservation:
    """One statement about a speaker, annotated with the turns it is drawn from."""

    text: str
    speaker: str
    session: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of two people over many sessions."""

    id: str
    speakers: tuple[str, str]
    turns: tuple[LocomoTurn, ...]
    observations: tuple[LocomoObservation, ...]
    questions: tuple[LocomoQuestion, ...]

    @property
    def observed(self) -> frozenset[str]:
        """Return the ids of all turns that an observation cites."""
        known = {turn.id for turn in self.turns}
        return frozenset(cited for each in self.observations for cited in each.evidence if cited in known)


def load(path: Path) -> tuple[Conversation, ...]:
    """Read a LoCoMo file, or the file with the standard name in a folder.

    Raises FileNotFoundError if it is missing.
    """
    file = path / FILE if path.is_dir() else path
    return tuple(_conversation(raw) for raw in json.loads(file.read_text(encoding="utf-8")))


def _conversation(raw: Mapping[str, Any]) -> Conversation:
    talk = raw["conversation"]
    return Conversation(
        id=raw["sample_id"],
        speakers=(talk["speaker_a"], talk["speaker_b"]),
        turns=tuple(_turns(talk)),
        observations=tuple(_observations(raw["observation"])),
        questions=tuple(_question(each) for each in raw["qa"]),
    )


def _turns(talk: Mapping[str, Any]) -> Iterator[LocomoTurn]:
    numbers = sorted(int(match[1]) for key in talk if (match := _SESSION.fullmatch(key)))
    for number in numbers:
        said_at = _moment(talk.get(f"session_{number}_date_time", ""))
        for each in talk[f"session_{number}"]:
            caption = each.get("blip_caption") or ""
            yield LocomoTurn(each["dia_id"], number, each["speaker"], each["text"], said_at, caption)


def _moment(text: str) -> datetime | None:
    """Parse "1:56 pm on 8 May, 2023"; the file names no time zone, so UTC is assumed."""
    try:
        return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def _observations(raw: Mapping[str, Any]) -> Iterator[LocomoObservation]:
    for key, by_speaker in raw.items():
        session = int(_SESSION.match(key)[1])  # type: ignore[index]  # every key of the file has one
        for speaker, statements in by_speaker.items():
            for text, cited in statements:
                yield LocomoObservation(text, speaker, session, _ids(cited))


def _question(raw: Mapping[str, Any]) -> LocomoQuestion:
    answer = raw.get("answer", raw.get("adversarial_answer", ""))
    return LocomoQuestion(raw["question"], str(answer), int(raw["category"]), _ids(raw.get("evidence", [])))


def _ids(cited: Any) -> tuple[str, ...]:
    """Return turn ids, which the file gives as a string with one or several ids, or as a list."""
    return tuple(_TURN_ID.findall(cited if isinstance(cited, str) else " ".join(map(str, cited))))
