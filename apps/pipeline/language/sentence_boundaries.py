"""Ends of sentences, which are not at abbreviations, initials, decimals or versions."""

import re
from collections.abc import Iterator

_EMOJI = r"\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F"
# Each run of signs is tried from its first sign only.
_END = re.compile(
    rf"(?<=[^\s.!?…])[ \u00a0\u202f]?[!?]++(?=\s|$)|(?<=[^\s.!?…])[.!?…]++[)\"”']*+(?=\s|$)|(?<=[^\s.!?…{_EMOJI}])[{_EMOJI}]++(?=\s|$)|\n+|(?<=[a-z][.!?])(?=[A-Z])"
)
_LONGEST_WORD = 20  # of an abbreviation and the word before it
# English abbreviations that end with a full stop, by what follows them within a sentence.
# A name follows: "Dr. Voss", "St. James".
_BEFORE_NAMES = frozenset(
    "dr mr mrs ms mx prof st mt ft rev hon gen col lt sgt capt sen rep gov pres messrs mme mlle".split()
)
# Any word follows.
_WITHIN = frozenset("e.g i.e eg ie vs cf viz approx ca incl resp aka a.k.a".split())
# A number follows: "No. 5", "p. 12", "Oct. 5".
_BEFORE_NUMBERS = frozenset("no nos art fig p pp vol ch sec jan feb mar apr jun jul aug sept sep oct nov dec".split())
# German months: the day before them is written with a full stop ("am 19. Mai").
_MONTHS_AFTER_DAY = frozenset(
    "januar jänner februar märz april mai juni juli august september oktober november dezember".split()
)
# A sentence may end with these; it continues if a lower-case letter or a number follows.
_LAST_OR_WITHIN = frozenset("etc inc ltd co corp jr sr bros dept est a.m p.m u.s u.k u.s.a ph.d b.a m.a".split())
# Words that begin a sentence and don't continue a name after an initial.
_SENTENCE_STARTS = frozenset(
    "i it he she we they you the a an this that these those there my our your his her their and but so or not no yes "
    "if when what who where why how is are do did can could please then also maybe".split()
)


def sentence_ends(prose: str) -> Iterator[int]:
    """Yield the positions at which sentences end, except the end of the text."""
    for end in _END.finditer(prose):
        if end.group() != "." or not _is_abbreviation(prose, end.start()):
            yield end.end()


def _is_abbreviation(prose: str, dot: int) -> bool:
    """Return True if the full stop at `dot` belongs to the word before it and the sentence continues."""
    before = prose[max(0, dot - 2 * _LONGEST_WORD) : dot].split()
    after = prose[dot + 1 : dot + 1 + _LONGEST_WORD].split()
    if not before or not after or "\n" in prose[dot + 1 : dot + 3]:
        return False
    word, following = before[-1].lstrip("(\"'“").casefold(), after[0].strip("(\"'“,.!?")
    if word in _WITHIN or word in _BEFORE_NAMES:
        return True
    if word.isdigit() and len(word) < 3:
        return following.casefold() in _MONTHS_AFTER_DAY or following[:1].islower()
    if word in _BEFORE_NUMBERS:
        return following[:1].isdigit()
    if word in _LAST_OR_WITHIN:
        return following[:1].islower() or following[:1].isdigit()
    # Read "J. Hartley" and "John F. Doe", but neither "so do I. We" nor "vitamin D. It".
    letter = before[-1].lstrip("(\"'“")
    if len(letter) != 1 or not letter.isupper() or letter == "I":
        return False
    follows_name = len(before) == 1 or before[-2][:1].isupper()
    is_name = following[:1].isupper() and following.casefold() not in _SENTENCE_STARTS
    return follows_name and is_name
