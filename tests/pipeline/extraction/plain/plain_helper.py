"""Helpers that run the plain extractor over one message."""

from collections.abc import Sequence

from apps.pipeline.core.enums import Polarity, Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.extractor import extract
from apps.pipeline.extraction.plain.notes import SAID
from tests.pipeline.builders import turn

POLICY = ExtractionPolicy()


def told(text: str, *, asked: str = "", speaker: str = "") -> tuple[Candidate, ...]:
    """Return the candidates of a message, said in answer to a question of the assistant if there is one."""
    before = (turn(asked, role=Role.ASSISTANT),) if asked else ()
    return extract(turn=turn(text, position=1, speaker=speaker), policy=POLICY, before=before)


def statements(text: str) -> tuple[str, ...]:
    """Return the statements of a message as "subject predicate object", with "not" before a denial."""
    return tuple(_brief(each) for each in told(text) if each.predicate != SAID)


def note(text: str, *, asked: str = "") -> str:
    """Return the words of the note of a message; "" if there is none."""
    return next((each.object.text for each in told(text, asked=asked) if each.predicate == SAID), "")


def session(*texts: str) -> Sequence[SourceTurn]:
    """Return the turns of a user, in order."""
    return [turn(text, position=position) for position, text in enumerate(texts)]


def _brief(candidate: Candidate) -> str:
    denied = "not " if candidate.polarity is Polarity.NEGATIVE else ""
    return f"{denied}{candidate.subject.text} {candidate.predicate} {candidate.object.text}"
