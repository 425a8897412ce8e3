"""Conversation: checks of a turn that depend on the turns before it."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.context_marker import is_recalled, without_context_blocks
from apps.pipeline.prefilter.folding import CUT, fold

EARLIER_TURN_CHARACTERS = 4_000  # characters read of an earlier turn; repeats of longer ones are not recognised
TAIL = 600  # characters of the previous turn that are searched for a question

_SENTENCE = re.compile(r"[^.!?؟…]+[.!?؟…]*")
_QUESTION_END = ("?", "؟")
# Questions without a question mark: "Please confirm", "How about Monday.", "do you live here".
_REQUEST = re.compile(
    r"^\W*(?:(?:so|ok|okay|and|well|great|sure|alright|thanks|hi|hey|but|or)\b\W*+)*(?:"
    r"(?:how|what) about\b|confirm(?:ing)?\b|shall (?:i|we)\b|what if\b"
    r"|(?:do|does|did|would|could|can|will|are|is|was|were|have|has|had|should|may|what|which|who|when|where|how|why)"
    r" (?:you|your|it|this|that|the|there|we|i|is|are|do|does|did|would|many|much|long|old|often)\b)"
    r"|\bplease (?:confirm|tell|choose|pick|select|provide|specify|answer|say|share|give|enter|name)\b"
    r"|\b(?:can|could|would|will) you (?:please )?(?:confirm|tell|share|give)\b|\btell me\b|\blet me know\b"
)
# An offer of further help: an answer to it says nothing about the user.
_CLOSING_OFFER = re.compile(
    r"\b(?:any ?thing|some ?thing|what) (?:else|more|further)\b"
    r"|\b(?:more|further|any|other|additional) (?:help|assistance)\b"
    r"|\bhelp (?:you )?with (?:any|some)thing\b"
)


class Utterance:
    """A turn with its own words and their folded form, which are computed when they are asked for."""

    def __init__(self, turn: SourceTurn, *, limit: int) -> None:
        self.turn = turn
        self._limit = limit  # characters that are folded

    @cached_property
    def own(self) -> str:
        """Return the text without what this server rendered."""
        text = self.turn.content
        return without_context_blocks(text) if is_recalled(text) else text

    @cached_property
    def words(self) -> str:
        """Return the folded form of the own words."""
        return fold(self.own, limit=self._limit)

    @property
    def speaker(self) -> tuple[Role, str]:
        """Return the role and name of the speaker: several people may share a role."""
        return self.turn.role, self.turn.speaker


def asks(words: str) -> bool:
    """Return True if a folded text asks a question, other than whether more help is wanted."""
    return any(
        (sentence.endswith(_QUESTION_END) or _REQUEST.search(sentence)) and not _CLOSING_OFFER.search(sentence)
        for sentence in _SENTENCE.findall(words[-TAIL:])
    )


def is_answer(utterance: Utterance, *, earlier: Sequence[Utterance]) -> bool:
    """Return True if the previous other speaker asked something."""
    for before in reversed(earlier):
        if before.turn.role in (Role.TOOL, Role.SYSTEM) or before.speaker == utterance.speaker:
            continue
        # Who writes neither capitals nor full stops may omit question marks as well.
        said = before.own
        return asks(before.words) or (said.islower() and said[-1:].isalnum() and not set(said) & set(".!?"))
    return False


def is_repeated(utterance: Utterance, *, earlier: Sequence[Utterance], tells: Callable[[Utterance], bool]) -> bool:
    """Return True if the same speaker said the same words before, and nothing since for which `tells` returns True.

    "I live in Berlin" is news again once "I moved to Munich" was said.
    """
    said = [place for place, before in enumerate(earlier) if _says_the_same(utterance, before)]
    since = earlier[said[-1] + 1 :] if said else ()
    return bool(said) and not any(each.speaker == utterance.speaker and tells(each) for each in since)


def is_resent(place: int, *, sent: Sequence[Utterance], earlier: Sequence[Utterance]) -> bool:
    """Return True if a turn of a request has the same neighbour as an earlier turn with the same text.

    Callers without ids send the whole conversation again with each new turn.
    """
    before, after = (sent[place - 1] if place else None), (sent[place + 1] if place + 1 < len(sent) else None)
    for at, known in enumerate(earlier):
        if _says_the_same(sent[place], known):
            if before and at and _says_the_same(before, earlier[at - 1]):
                return True
            if after and at + 1 < len(earlier) and _says_the_same(after, earlier[at + 1]):
                return True
    return False


def _says_the_same(one: Utterance, other: Utterance) -> bool:
    if one.speaker != other.speaker or one.words != other.words:
        return False
    return not one.words.endswith(CUT) or one.own == other.own
