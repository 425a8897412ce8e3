"""Relevance: which known memories a prompt shows; they are searched for each sentence of the new turns."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.ports import Ports, RelevanceQuery, Slot
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.calendar import MONTH_NUMBERS, MONTHS
from apps.pipeline.lexicon.tables import SMALL
from apps.pipeline.lexicon.word_stems import stem
from apps.pipeline.prompts.extract import estimated_tokens
from apps.pipeline.prompts.sections import MOST_CONTENT

MOST_SENTENCES = 60  # maximum; the latest sentences of the new turns count
USERS_SLOTS = ("name", "lives_in", "works_at", "works_as")  # shown whatever the turns are about
LEAST_LINE = 10  # tokens of a line's id, day and predicate
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…;])\s+(?!\d)|\n+")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{3,}|\d+")
_NUMERIC_DATE = re.compile(r"\b\d{1,2}[./] ?(0?[1-9]|1[0-2])\b(?!\d)")  # "4.3.", day before month


def memories_to_show(
    draft: Draft, turns: Sequence[SourceTurn], ports: Ports, *, slots: Sequence[str] = USERS_SLOTS
) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...]]:
    """Return the known entities, and the memories that matter for some turns, as many as the policy has tokens for.

    Where they do not all fit, what holds one of the user's `slots` comes first; coming events are among the most
    relevant ones.
    """
    end_user_id, policy = draft.request.origin.end_user_id, draft.policy.extraction
    most = policy.max_known_tokens // LEAST_LINE
    entities, memories = ports.memories.all_if_few(
        end_user_id=end_user_id, entities=policy.max_entities, memories=most, private_to=draft.private_to
    )
    if memories is not None and len(fitting := _fitting(memories, policy.max_known_tokens)) == len(memories):
        return entities, fitting
    wanted = [Slot(each.id, predicate) for each in entities if each.is_user for predicate in slots]
    held = ports.memories.holders(end_user_id=end_user_id, slots=wanted, private_to=draft.private_to)
    texts = [turn.content[: policy.max_turn_characters] for turn in turns]
    parts = (part.strip() for text in texts for part in _SENTENCE_ENDS.split(text))
    sentences = [part for part in parts if _LETTER.search(part)][-MOST_SENTENCES:]
    words: list[tuple[str, ...]] = []  # stems of content words, numbers, and the English names of months
    for sentence in sentences:
        told = [word.lower() for word in _WORD.findall(sentence)]
        dated = [MONTHS[int(month) - 1] for month in _NUMERIC_DATE.findall(sentence)]
        named = [MONTHS[MONTH_NUMBERS[word] - 1] for word in told if word in MONTH_NUMBERS]
        words.append(tuple(dict.fromkeys([*(stem(word) for word in told if word not in SMALL), *dated, *named])))
    query = RelevanceQuery(
        end_user_id=end_user_id,
        session_id=draft.request.origin.session_id,
        embedder=ports.embedder.name,
        vectors=tuple(ports.embedder.embed(sentences)) if sentences else (),
        text="\n".join(texts),
        words=tuple(words),
        private_to=draft.private_to,
        now=max((turn.said_at for turn in turns), default=None),
    )
    found = ports.memories.relevant(query=query, memories=most)
    by_id = {each.id: each for each in (*held, *found)}
    return entities, _fitting(by_id.values(), policy.max_known_tokens)


def _fitting(memories: Iterable[StoredMemory], tokens: int) -> tuple[StoredMemory, ...]:
    """Return the first memories whose lines take no more tokens than that."""
    listed = tuple(memories)
    sizes = accumulate(LEAST_LINE + estimated_tokens(each.content[:MOST_CONTENT]) for each in listed)
    return listed[: bisect_right(tuple(sizes), tokens)]
