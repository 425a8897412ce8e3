"""Statements in the third person as candidates: a triple by the pattern extractor, else by their first verb.

An observation such as "Ana painted a lake" names its subject first. What the patterns find of that subject gives type,
predicate and object; else the word behind the name is the predicate and what follows the object, as a plain model would
put it. Names inside the sentence are its mentions.
"""

import re
from datetime import UTC, datetime
from uuid import UUID

from apps.pipeline.core.enums import EntityType, MemoryType, Role
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.extractor import extract
from apps.pipeline.lexicon.calendar import MONTHS, NAMES
from apps.pipeline.lexicon.kinship import relation_noun
from benchmarks.locomo_data import LocomoObservation

EXTRACTOR = "observations"
_POLICY = ExtractionPolicy()
_NO_DAY = datetime(2023, 1, 1, tzinfo=UTC)
_OWNED = re.compile(r"['’]s ([a-z]+)")
_VERB = re.compile(
    r"\s+(?:(?:currently|recently|also|often|always|usually|really|still|already|just|finally|once|never)\s+)*"
    r"(?!and\b)([a-z]+)\s+(.+?)[.!]?$"
)
_NAME = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][a-zà-ÿ]+(?: [A-ZÀ-Þ][a-zà-ÿ]+)*")


def candidate_of(observation: LocomoObservation, *, index: int, sources: tuple[UUID, ...]) -> Candidate:
    """Convert an observation to the candidate that an extractor would propose for the turns that it cites."""
    found = next(
        (each for each in _by_patterns(observation) if each.subject.text == observation.speaker), None
    ) or _split(observation)
    return found.evolve(
        index=index,
        content=observation.text,
        evidence=observation.text,
        source_turn_ids=sources,
        mentions=(*found.mentions, *_names(observation)),
        extractor=EXTRACTOR,
        reliability=0.9,
    )


def _by_patterns(observation: LocomoObservation) -> tuple[Candidate, ...]:
    """Run the patterns on the sentence as a statement about a third person."""
    turn = SourceTurn(
        id=UUID(int=1), position=0, role=Role.USER, content=observation.text, received_at=_NO_DAY, speaker="Narrator"
    )
    return tuple(extract(turn=turn, policy=_POLICY))


def _split(observation: LocomoObservation) -> Candidate:
    """Split the sentence after its subject into predicate and object; both are empty if it starts differently."""
    subject = _subject(observation)
    said = _VERB.match(observation.text, len(subject)) if observation.text.startswith(subject) else None
    return Candidate(
        index=0,
        type=MemoryType.FACT,
        subject=Mention(text=subject, type=EntityType.PERSON),
        predicate=said[1] if said else "is_observed",
        object=ObjectValue(literal=said[2] if said else None),
        content=observation.text,
        source_turn_ids=(),
        evidence=observation.text,
        extractor=EXTRACTOR,
        reliability=0.9,
    )


def _subject(observation: LocomoObservation) -> str:
    """Return the subject: the speaker, or a relative of theirs at the start of the sentence ("Ana's sister")."""
    owned = (
        _OWNED.match(observation.text, len(observation.speaker))
        if observation.text.startswith(observation.speaker)
        else None
    )
    return observation.text[: owned.end()] if owned and relation_noun(owned[1]) else observation.speaker


def _names(observation: LocomoObservation) -> tuple[Mention, ...]:
    found = dict.fromkeys(_NAME.findall(observation.text))
    return tuple(
        Mention(text=name) for name in found if name != observation.speaker and name.casefold() not in {*NAMES, *MONTHS}
    )
