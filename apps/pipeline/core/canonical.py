"""The canonical form of a statement: two wordings with the same canonical form have the same hash."""

import hashlib
import re
import unicodedata
from uuid import UUID

from apps.pipeline.core.statement import Statement

# A word with the signs that make it another one: +2 and -2, <80, A+ and A-, C++ and C#, 50%.
_WORD = re.compile(r"(?:(?<!\w)[<>+-](?=\d))?(?:(?<!\w)\w{1,2}-(?!\w)|\w+(?:\+{1,2}|[#%])?(?!\w)|\w+)")
_SIGNS = frozenset("<>+-#%")


def canonical_text(text: str) -> str:
    """Fold case, width, punctuation and white space: "I like  TEA!" becomes "i like tea"."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def signed_words(text: str) -> tuple[str, ...]:
    """Return the words that have a sign, such as a+ or -500."""
    return tuple(word for word in canonical_text(text).split() if not _SIGNS.isdisjoint(word))


def canonical_hash(statement: Statement) -> str:
    """Hash the triple with its polarity, or the sentence if there is no predicate or no object.

    An object that is a resolved entity is hashed by its id, so that renaming the entity doesn't change the hash.
    Returns 32 hexadecimal characters (BLAKE2b, 128 bits).
    """
    entity = statement.object.entity
    value = str(entity.entity_id) if entity and entity.entity_id else canonical_text(statement.object_text)
    triple = (str(statement.subject_id), statement.predicate, value)
    said = triple if statement.predicate and value else (statement.type.value, canonical_text(statement.content))
    key = "\x1f".join((*said, statement.polarity.value))
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()


def salted_hash(canonical_hash: str, *, memory_id: UUID) -> str:
    """Return a hash of its own for a statement whose hash belongs to a live memory with another meaning."""
    return hashlib.blake2b(f"{canonical_hash}\x1f{memory_id.hex}".encode(), digest_size=16).hexdigest()
