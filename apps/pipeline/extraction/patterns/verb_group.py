"""The verb group after a subject: adverbs, negation, auxiliaries, the finite verb."""

import re
from dataclasses import dataclass, replace

from apps.pipeline.lexicon import verbs
from apps.pipeline.lexicon.numerals import NUMBERS

_FILLERS = frozenset(
    "actually just really also totally definitely literally honestly basically simply truly kinda sorta super so "
    "absolutely certainly even already obviously clearly especially personally too both all".split()
)
_ADVERBS = frozenset(
    "always usually often sometimes rarely never still now once finally mostly soon seldom hardly almost only".split()
)
_NOT_ADVERBS = frozenset("apply family fly only rely reply supply".split())
_DENIALS = {
    "don't": "", "dont": "", "doesn't": "", "doesnt": "", "didn't": "did", "didnt": "did", "can't": "can", "cant": "can",
    "cannot": "can", "won't": "will", "wont": "will", "haven't": "has", "havent": "has", "hasn't": "has", "isn't": "is",
    "aren't": "is", "wasn't": "was", "weren't": "was", "couldn't": "could", "wouldn't": "would", "hadn't": "had",
    "shouldn't": "should", "mustn't": "must", "ain't": "is",
}  # fmt: skip
_BEFORE_NOT = frozenset("do did does am is are was were have has had can could will would should must".split())
_AUXILIARIES = frozenset("am are was were have is has".split())
_POSSIBILITIES = frozenset("might may could".split())
# After "I do" these are an object, so that "do" is the verb itself.
_OBJECT_STARTS = frozenset(
    "a an the my his her our their some it this that these those two both yoga not all lots".split()
)
_WORD = re.compile(r"[A-Za-z(\"'0-9]")


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """The words read so far, and the remaining ones."""

    words: tuple[str, ...]
    auxiliary: str = ""  # in the third person: "is", "has", "did"
    adverbs: tuple[str, ...] = ()
    is_negated: bool = False
    is_over: bool = False  # "no longer"
    is_past_denial: bool = False  # "did not"
    is_hedged: bool = False  # "might"

    @property
    def word(self) -> str:
        """Return the next word, folded."""
        return self.words[0].lower().strip(",") if self.words else ""

    @property
    def following(self) -> str:
        """Return the word after it, folded."""
        return self.words[1].lower() if len(self.words) > 1 else ""

    def phrase(self, *, is_third: bool) -> str:
        """Join what is left into a third-person phrase: "go" and "does not go" become "goes", "Lena goes" stays."""
        if self.auxiliary and self.auxiliary != "did":
            going = ("going", "to", *self.words[1:]) if self.word == "gonna" else self.words
            return " ".join((self.auxiliary, *going))
        head = self.words[0].lower() if is_third else verbs.third_person(self.words[0].strip(","))
        return " ".join((head, *self.words[1:]))


def read(words: list[str], *, auxiliary: str = "") -> VerbGroup | None:
    """Read `words` up to the finite verb; None if there is no verb."""
    group = VerbGroup(words=tuple(words), auxiliary=auxiliary)
    for _ in range(len(words)):
        after = next((read_on for step in _STEPS if (read_on := step(group))), None)
        if after is None:
            break
        group = after
    return group if group.words and _WORD.match(group.words[0]) else None


def _no_longer(group: VerbGroup) -> VerbGroup | None:
    if (group.word, group.following) != ("no", "longer"):
        return None
    return replace(group, words=group.words[2:], is_over=True, is_negated=True)


def _denial(group: VerbGroup) -> VerbGroup | None:
    if group.word not in _DENIALS or group.auxiliary:
        return None
    return replace(
        group,
        words=group.words[1:],
        auxiliary=_DENIALS[group.word],
        is_negated=True,
        is_past_denial=group.word.startswith("did"),
    )


def _not(group: VerbGroup) -> VerbGroup | None:
    if group.word == "not":
        return replace(group, words=group.words[1:], is_negated=True)
    if group.auxiliary or group.following != "not" or group.word not in _BEFORE_NOT:
        return None
    auxiliary = "" if group.word in ("do", "does") else verbs.third_person(group.word)
    return replace(
        group, words=group.words[2:], auxiliary=auxiliary, is_negated=True, is_past_denial=group.word == "did"
    )


def _emphasis(group: VerbGroup) -> VerbGroup | None:
    """Read "I do love it" as "I love it", "I did take her" as "I took her"."""
    if group.is_negated:
        return None
    if group.word == "do" and group.following.isalpha() and group.following not in _OBJECT_STARTS | NUMBERS.keys():
        return replace(group, words=group.words[1:])
    if group.word == "did" and (past := verbs.past_of(group.following)):
        return replace(group, words=(past, *group.words[2:]))
    return None


def _filler(group: VerbGroup) -> VerbGroup | None:
    return replace(group, words=group.words[1:]) if group.word in _FILLERS and group.following else None


def _adverb(group: VerbGroup) -> VerbGroup | None:
    word = group.word
    is_adverb = word in _ADVERBS or (word.endswith("ly") and word not in _NOT_ADVERBS)
    if not is_adverb or not group.following:
        return None
    return replace(
        group,
        words=group.words[1:],
        adverbs=(*group.adverbs, word),
        is_negated=group.is_negated or word == "never",
    )


def _possibility(group: VerbGroup) -> VerbGroup | None:
    if group.word not in _POSSIBILITIES or group.auxiliary:
        return None
    return replace(group, words=group.words[1:], auxiliary=group.word, is_hedged=True)


def _auxiliary(group: VerbGroup) -> VerbGroup | None:
    if group.auxiliary or group.word not in _AUXILIARIES or not group.following:
        return None
    return replace(group, words=group.words[1:], auxiliary=verbs.third_person(group.word))


_STEPS = (_no_longer, _denial, _not, _emphasis, _filler, _adverb, _possibility, _auxiliary)
