"""Wishes that something is not stored: "don't store that I'm vegan", "off the record, …", "merk dir das nicht".

What such a wish covers is cut out of the turns before anything reads them: its own sentence, and where that only
points ("don't store that"), the sentence beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import re2

from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import Reason, Role, Stage
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.asked_sentences import AskedSentence, asked_sentences, claims, content_words
from apps.pipeline.extraction.wishes import LIKELY

CUT = "…"  # stands where the words were
_FORWARD = re2.compile(r"(?i)[:–—]\s*$|\b(?:following|what comes next|folgende\w*|ce qui suit)\b")


@dataclass(frozen=True, slots=True)
class Wish:
    """A wish not to store something: the places that it covers, and what it says of them."""

    quote: str
    told: str  # what is not to be stored, in the user's words; empty where it points out of its message
    covers: tuple[tuple[int, int], ...]


def wishes_of(sentences: Sequence[AskedSentence]) -> Iterator[Wish]:
    """Yield the wishes of a user's sentences not to store something.

    A wish without a claim of the user covers the sentence before it too, or the next one if it announces that.
    """
    for place, sentence in enumerate(sentences):
        announcement = sentence.text.partition(":")[0]  # "don't save this: …", where others' words may follow
        least = max(LIKELY, sentence.wishes.forget)
        if sentence.wishes.not_to_store < least or not sentence.is_own(0, len(announcement)):
            continue
        last, following = sentences[max(0, place - 1) : place], sentences[place + 1 : place + 2]
        around = following or last if _FORWARD.search(sentence.text) else last or following
        beside = [] if claims(sentence.text) else around
        covers = tuple((each.start, each.end) for each in (sentence, *beside))
        said = " ".join(each.text for each in beside) or (sentence.text if content_words(sentence.text) else "")
        yield Wish(quote=sentence.text.strip(" .!?"), told=said, covers=covers)


def without_covered(turn: SourceTurn, wishes: Sequence[Wish]) -> SourceTurn:
    """Return a turn without what its wishes cover."""
    parts, place = [], 0
    for start, end in sorted({each for wish in wishes for each in wish.covers}):
        parts.append(turn.content[place:start])
        place = max(place, end)
    left = " ".join(part.strip() for part in (*parts, turn.content[place:]) if part.strip())
    return replace(turn, content=left or CUT)


def without_unwanted(drafts: Sequence[Draft]) -> list[Draft]:
    """Cut out of the turns of a session's drafts what the user does not want to be stored; say so of the traces' turns.

    A wish that points out of its message covers the one before it, also one that waits in an earlier draft: then there
    is nothing to forget yet.
    """
    waiting = {turn.id for draft in drafts for turn in draft.request.turns}
    said = {turn.id: turn for draft in drafts for turn in draft.request.session_turns}
    in_order = sorted(said.values(), key=lambda turn: turn.position)
    most = max((draft.policy.extraction.max_turn_characters for draft in drafts), default=0)
    cut: dict[UUID, SourceTurn] = {}
    settled: set[UUID] = set()
    for place, turn in enumerate(in_order):
        is_asked = turn.role is Role.USER
        sentences = list(asked_sentences(turn, earlier=in_order[:place], most=most)) if is_asked else []
        if wishes := list(wishes_of(sentences)):
            cut[turn.id] = without_covered(turn, wishes)
            before = [each for each in in_order[:place] if (each.role, each.speaker) == (turn.role, turn.speaker)]
            if before and not any(wish.told for wish in wishes):
                cut[before[-1].id] = replace(before[-1], content=CUT)
                settled |= {turn.id} if before[-1].id in waiting else set()
    if not cut:
        return list(drafts)
    left = []
    for draft in drafts:
        unwanted = [turn.id for turn in draft.turns if turn.id in cut]
        drops = (Drop(Stage.EXTRACT, Reason.ASKED_NOT_TO_STORE, turn_id=each) for each in unwanted)
        requests = (each for each in draft.forget_requests if not (each.points and each.turn_id in settled))
        request = replace(
            draft.request,
            turns=tuple(cut.get(turn.id, turn) for turn in draft.request.turns),
            earlier_turns=_left_of(draft.request.earlier_turns, cut),
        )
        turns = _left_of(draft.turns, cut)
        forget_requests, all_drops = tuple(requests), (*draft.drops, *drops)
        left.append(draft.evolve(request=request, turns=turns, forget_requests=forget_requests, drops=all_drops))
    return left


def _left_of(turns: Sequence[SourceTurn], cut: Mapping[UUID, SourceTurn]) -> tuple[SourceTurn, ...]:
    """Return what is left of turns, without those of which nothing is left."""
    return tuple(each for turn in turns if (each := cut.get(turn.id, turn)).content != CUT)
