"""What the text of a query tells about what is searched: names, the query without them, the type of answer."""

import re
from dataclasses import dataclass
from enum import IntFlag

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.lexicon.tables import read_table

_MAX_NAME_WORDS = 4
_MINE = frozenset({"my", "our", "mein", "meine", "meiner", "mon", "ma", "mes", "mi", "mis"})
_I = frozenset({"i", "me", "mine", "myself", "we", "us", "ich", "mir", "mich", "je", "moi", "yo"})
_WORD = re.compile(r"\w+")
# Prefixes of predicates before the word that people ask with: "manager" for has_manager.
_PREDICATE_OPENINGS = ("", "has_", "is_")
_POSSESSIVE = "s"  # the "s" of "Lena's" in canonical text


@dataclass(frozen=True, slots=True)
class Names:
    """What a query may refer to: folded aliases, predicates to or from other entities, the end user."""

    phrases: tuple[str, ...]
    predicates: tuple[str, ...]  # from one to another: has_manager
    inverses: tuple[str, ...]  # from another to one: sister_of
    says_i: bool  # the query refers to the end user
    says_my: bool  # the query refers to an entity by its relation to the end user


def names_in(text: str) -> Names:
    """Try every sequence of up to four words as a name; "my manager" is also its alias "User's manager"."""
    words = canonical_text(text).split()
    lengths = range(1, _MAX_NAME_WORDS + 1)
    runs = dict.fromkeys(tuple(words[at : at + n]) for at in range(len(words)) for n in lengths if at + n <= len(words))
    own = (" ".join(("user s", *run[1:])) for run in runs if run[0] in _MINE and len(run) > 1)
    relations = ("_".join(run) for run in runs if len(run) <= 2)
    owned = (run[1:] for run in runs if run[0] in _MINE | {_POSSESSIVE} and 1 < len(run) <= 3)
    held = dict.fromkeys(noun for run in owned for noun in ("_".join(run), run[-1]))  # a best friend is a friend
    return Names(
        phrases=tuple(dict.fromkeys((*(" ".join(run) for run in runs), *own))),
        predicates=tuple(opening + each for each in relations for opening in _PREDICATE_OPENINGS),
        inverses=tuple(f"{one}_of" for each in held for one in (each, each.removesuffix("s"))),
        says_i=not _I.isdisjoint(words),
        says_my=not _MINE.isdisjoint(words),
    )


def without_names(text: str) -> str:
    """Remove words that look like names, for the vector only; return the whole text if hardly anything is left.

    The vector of a name is close to every memory that contains it, which hides the rest of the query (on LoCoMo,
    recall@10 by vectors alone is 0.33 with names and 0.56 without); words and entities find names better.
    """
    words = _WORD.findall(text)
    kept = [word for place, word in enumerate(words) if place == 0 or not word[0].isupper()]
    return " ".join(kept) if len(kept) > 1 else text


class AnswerType(IntFlag):
    """The type of answer that a question asks for.

    The database computes the types that a statement offers when it is written, with these values.
    """

    TIME = 1
    PLACE = 2
    QUANTITY = 4


ANY_ANSWER = AnswerType(0)
# A question word counts at the beginning only: "What should I cook when Lena comes" doesn't ask for a time.
OPENING_WORDS = 3


def wanted_answer(query: str) -> AnswerType:
    """Return the types of answers that a question asks for; ANY_ANSWER for other texts."""
    words = _WORD.findall(query[:200].lower())[: OPENING_WORDS + 1]
    found = ANY_ANSWER
    for first, second in zip(words[:OPENING_WORDS], [*words[1:], ""], strict=False):
        found |= _QUESTION_WORDS.get(first, ANY_ANSWER) | _QUESTION_WORDS.get(f"{first} {second}", ANY_ANSWER)
    return found


# Question words, alone or in pairs, with the type that they ask for.
_TABLE = read_table("question_words")
_QUESTION_WORDS = {word: answer for answer in AnswerType for word in _TABLE[(answer.name or "").lower()].split()} | {
    pair.strip(): AnswerType.QUANTITY for pair in _TABLE["quantity_pairs"].split("|")
}
