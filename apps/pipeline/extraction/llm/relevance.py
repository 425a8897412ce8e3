"""Relevance: which known memories a prompt shows; they are searched for each sentence of the new turns."""

import re
from collections.abc import Sequence

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.ports import Ports, RelevanceQuery
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.verbs import stem

MOST_SENTENCES = 60  # maximum; the latest sentences of the new turns count
_SENTENCE_ENDS = re.compile(r"(?<=[.!?…;])\s+|\n+")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W_]{3,}")


def memories_to_show(
    draft: Draft, turns: Sequence[SourceTurn], ports: Ports, *, most: int
) -> tuple[tuple[KnownEntity, ...], tuple[StoredMemory, ...]]:
    """Return the known entities, and the memories that matter for some turns: all of them where there are few."""
    entities, memories = ports.memories.all_if_few(
        end_user_id=draft.request.origin.end_user_id,
        entities=draft.policy.extraction.max_entities,
        memories=most,
        private_to=draft.private_to,
    )
    if memories is None:
        memories = ports.memories.relevant(query=_relevance_query(draft, turns, ports), memories=most)
    return entities, memories


def _relevance_query(draft: Draft, turns: Sequence[SourceTurn], ports: Ports) -> RelevanceQuery:
    """Return the question which known memories matter for each sentence of some turns of a draft's session."""
    texts = [turn.content[: draft.policy.extraction.max_turn_characters] for turn in turns]
    sentences = [sentence for text in texts for sentence in _sentences(text)][-MOST_SENTENCES:]
    return RelevanceQuery(
        end_user_id=draft.request.origin.end_user_id,
        session_id=draft.request.origin.session_id,
        embedder=ports.embedder.name,
        vectors=tuple(ports.embedder.embed(sentences)) if sentences else (),
        text="\n".join(texts),
        words=tuple(map(_stems, sentences)),
        private_to=draft.private_to,
    )


def _sentences(text: str) -> list[str]:
    """Split a text at the ends of sentences and lines; splitting at an abbreviation is harmless here."""
    return [sentence for each in _SENTENCE_ENDS.split(text) if _LETTER.search(sentence := each.strip())]


def _stems(sentence: str) -> tuple[str, ...]:
    """Return the distinct stems of the content words."""
    words = (word.lower() for word in _WORD.findall(sentence))
    return tuple(dict.fromkeys(stem(word) for word in words if word not in SMALL))
