"""Windows: as few calls as possible for a session's new turns, each turn with the one before it."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.windows import Window, windows_of
from tests.pipeline.builders import ORIGIN, turn


def asked(first: int, size: int, *, earlier: int = 0, every: int = 1) -> Draft:
    """Build a request with every n-th turn to be extracted, from a position of the session."""
    turns = tuple(turn(f"turn {place}", position=place) for place in range(first, first + size))
    before = tuple(turn(f"turn {place}", position=place) for place in range(max(0, first - earlier), first))
    request = Request(trace_id=turns[0].id, origin=ORIGIN, turns=turns, earlier_turns=before)
    return Draft(request=request, policy=Policy(), turns=turns[every - 1 :: every])


def places(turns: Sequence[SourceTurn]) -> list[int]:
    return [each.position for each in turns]


def windows(given: Sequence[Draft], **limits: int) -> list[Window]:
    return list(windows_of(given, policy=ExtractionPolicy.model_validate(limits)))


def test_an_answer_is_shown_with_its_question() -> None:
    first, second = windows([asked(2 * place, 2, every=2) for place in range(11)])
    assert (len(first.new), len(first.shown), places(second.new)) == (10, 20, [21])
    assert places(second.shown)[-2:] == [20, 21]


@given(
    sizes=st.lists(st.integers(min_value=1, max_value=30), min_size=1, max_size=6),
    every=st.integers(min_value=1, max_value=4),
    most=st.integers(min_value=1, max_value=25),
    context=st.integers(min_value=0, max_value=10),
)
def test_every_turn_is_asked_about_once_and_no_call_shows_too_much(
    sizes: list[int], every: int, most: int, context: int
) -> None:
    given = [asked(sum(sizes[:at]), size, earlier=5, every=min(every, size)) for at, size in enumerate(sizes)]
    found = windows(given, max_turns=most, context_turns=context)
    assert [place for window in found for place in places(window.new)] == [
        place for each in given for place in places(each.turns)
    ]
    for window in found:
        assert len(window.shown) <= max(most, 2)
        assert places(window.shown) == sorted(set(places(window.shown)))
        assert set(places(window.new)) <= set(places(window.shown))
