"""The canonical form of a statement: what two wordings must share to be the same by hash."""

import hashlib
import re
import unicodedata
from uuid import UUID

from apps.pipeline.core.draft import Candidate
from apps.pipeline.core.enums import MemoryType, Polarity

_NOT_A_WORD = re.compile(r"[^\w]+", re.UNICODE)


def canonical_text(text: str) -> str:
    """Fold case, width, punctuation and white space: "I like  TEA!" and "i like tea" become one."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_A_WORD.sub(" ", folded).strip()


def canonical_hash(*, candidate: Candidate, subject_id: UUID | None) -> str:
    """Hash the triple with its polarity, or the sentence where there is no object.

    An object that is a resolved entity counts by its id, so that a new name changes nothing.
    Returns 32 hexadecimal characters (BLAKE2b, 128 bits).
    """
    entity = candidate.object.entity
    value = str(entity.entity_id) if entity and entity.entity_id else canonical_text(candidate.object.text)
    return hash_of_statement(
        subject_id=subject_id,
        predicate=candidate.predicate,
        value=value,
        type=candidate.type,
        content=candidate.content,
        polarity=candidate.polarity,
    )


def salted_hash(canonical_hash: str, *, memory_id: UUID) -> str:
    """Hash a statement whose hash a live memory holds that says something else: one of its own."""
    return hashlib.blake2b(f"{canonical_hash}\x1f{memory_id.hex}".encode(), digest_size=16).hexdigest()


def hash_of_statement(
    *, subject_id: UUID | None, predicate: str, value: str, type: MemoryType, content: str, polarity: Polarity
) -> str:
    """Hash what canonical_hash hashes, given its parts; `value` is the object's canonical text or entity id."""
    parts = (str(subject_id), predicate, value) if value else (type.value, canonical_text(content))
    key = "\x1f".join((*parts, polarity.value))
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
