"""Discourse: what was said before a mention, latest sentence first, to find the antecedents of pronouns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from apps.pipeline.core.draft import KnownEntity, Request
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.kinship import relation_noun
from apps.pipeline.resolution.grammar import describe
from apps.pipeline.resolution.name_folding import fold_name

_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?\n]+|$)")
# A noun with its article or owner, an indefinite pronoun, or a capitalised word within a sentence may be a person.
_MAY_NAME = re.compile(
    r"\b(?i:an?|the|my|our|your|his|her|their|this|that|these|those|(?:some|any|every|no)(?:one|body)|another)\b"
    r"|(?<=[\w,] )(?!I\b)[A-ZÀ-Þ]\w"
)
_REACH = 10  # number of turns searched for an antecedent


@dataclass(frozen=True, slots=True)
class Discourse:
    """The speaker, and what was said before, latest first."""

    turn: SourceTurn
    speaker: KnownEntity
    before: tuple[str, ...]
    talkers: frozenset[str] = frozenset()  # folded names of all speakers in the session

    def is_talking(self, entity: KnownEntity) -> bool:
        """Return True if an entity takes part in the conversation; then "she" doesn't refer to it."""
        names = {fold_name(each) for each in (entity.name, *entity.aliases)}
        return entity.id == self.speaker.id or entity.is_user or bool(names & self.talkers)

    def nearest(self, entities: Iterable[KnownEntity]) -> tuple[KnownEntity, ...]:
        """Return the entities in the latest sentence that names any of them; several are ambiguous."""
        return self._latest([(entity, surfaces_of(entity, speaker=self.speaker)) for entity in entities])

    def nearest_told_apart(self, namesakes: Sequence[KnownEntity]) -> tuple[KnownEntity, ...]:
        """Return which of several namesakes was described last ("my brother"), or all of them if none was."""
        surfaces = [(entity, frozenset(surfaces_of(entity, speaker=self.speaker))) for entity in namesakes]
        shared = frozenset.intersection(*(texts for _, texts in surfaces))
        return self._latest([(entity, tuple(texts - shared)) for entity, texts in surfaces]) or tuple(namesakes)

    @property
    def tells_of_nobody(self) -> bool:
        """Return True if nothing before the mention can be its antecedent: a greeting, a time, or nothing at all."""
        return not any(_MAY_NAME.search(sentence) or _names_a_relation(sentence) for sentence in self.before)

    def _latest(self, surfaces: Sequence[tuple[KnownEntity, Sequence[str]]]) -> tuple[KnownEntity, ...]:
        for sentence in self.before:
            named = tuple(entity for entity, texts in surfaces if any(holds(sentence, text) for text in texts))
            if named:
                return named
        return ()


def _names_a_relation(sentence: str) -> bool:
    return any(relation_noun(word) for word in _WORD.findall(sentence))


def discourse_of(*, request: Request, candidate: Candidate, speaker: KnownEntity, mention: str) -> Discourse:
    """Return the discourse of a mention: its own turn up to its position, then the turns before it."""
    turn = source_turn(request=request, candidate=candidate)
    turns = (*request.earlier_turns, *request.turns)
    place = next(index for index, each in enumerate(turns) if each.id == turn.id)
    earlier = reversed(turns[max(0, place - _REACH) : place])
    texts = (_up_to(turn.content, evidence=candidate.evidence, mention=mention), *(each.content for each in earlier))
    talkers = frozenset(fold_name(each.speaker) for each in turns if each.speaker)
    return Discourse(turn=turn, speaker=speaker, before=tuple(_sentences_backwards(texts)), talkers=talkers)


def source_turn(*, request: Request, candidate: Candidate) -> SourceTurn:
    """Return the last of a candidate's source turns.

    Raises StopIteration if the request has none of them, which extractors rule out.
    """
    return next(turn for turn in reversed(request.turns) if turn.id in candidate.source_turn_ids)


def _up_to(content: str, *, evidence: str, mention: str) -> str:
    start = max(content.find(evidence), 0) if evidence else 0
    found = re.search(rf"(?<!\w){re.escape(mention)}(?!\w)", content[start:], re.IGNORECASE)
    return content[: start + found.start()] if found else content[: start or None]


def _sentences_backwards(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from reversed(_SENTENCE.findall(text))


def surfaces_of(entity: KnownEntity, *, speaker: KnownEntity) -> tuple[str, ...]:
    """Return the expressions by which a speaker, or the one who answers, may refer to an entity."""
    names = (entity.name, *entity.aliases)
    nouns = [
        description.noun
        for description in (describe(name) for name in names)
        if description is not None and description.owner in (speaker.name, *speaker.aliases)
    ]
    return (*names, *(f"{whose} {noun}" for noun in nouns for whose in ("my", "your")))


def holds(text: str, words: str) -> bool:
    """Return True if a text contains some whole words, ignoring case."""
    if words.casefold() not in text.casefold():
        return False
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None
