"""Which known memories a quote, or a denial without a model, disputes."""

from uuid import UUID

import pytest

from apps.pipeline.core.enums import NOTE, Polarity
from apps.pipeline.core.statement import PLAIN
from apps.pipeline.deduplication.ended_values import disputed_by
from tests.pipeline.builders import candidate, known, resolved, turn

USER, OTHER, OLD = UUID(int=50), UUID(int=51), UUID(int=99)
THEN = turn("said before", position=0, day=0)
WORKS = {"content": "User works at Acme.", "value": "Acme"}
LIVES = {"content": "User lives in Madrid.", "value": "Madrid"}


@pytest.mark.parametrize(
    ("old", "said", "is_disputed"),
    [
        (WORKS, "I left Acme.", True),
        (WORKS, "They fired me at Acme on Friday.", True),
        (WORKS, "I don't work at Acme any more.", True),
        (WORKS, "I no longer work for Acme.", True),
        (LIVES, "Ya no vivo en Madrid.", True),
        (LIVES, "Ich habe Madrid verlassen.", True),
        (WORKS, "I had a long day at Acme.", False),
        (WORKS, "I left the choir.", False),
        (LIVES, "I was in Madrid for the weekend.", False),
        (WORKS | {"polarity": Polarity.NEGATIVE}, "I left Acme.", False),
    ],
)
def test_a_quote_disputes_the_value_that_it_says_is_over(old: dict[str, object], said: str, is_disputed: bool) -> None:
    source = turn(said, position=1, day=30)
    note = resolved(candidate(f"User said: {said}", source=source, value=said, tags=(NOTE,)), subject_id=USER)
    for subject, expected in ((USER, is_disputed), (OTHER, False)):
        told = resolved(candidate(source=THEN, **old), subject_id=subject)
        memory = known(told, memory_id=OLD, source=THEN)
        assert disputed_by(note, [memory]) == ((OLD,) if expected else ())


@pytest.mark.parametrize(
    ("said", "is_disputed"),
    [
        ("I've been vegan since 2020.", True),
        ("My sister and I are vegan.", True),
        ("I gave up being vegan.", False),
        ("I love cooking.", False),
    ],
)
def test_a_denial_disputes_the_quote_of_the_opposite(said: str, is_disputed: bool) -> None:
    source = turn("I'm not vegan anymore.", position=1, day=30)
    changes = {"value": "vegan", "polarity": Polarity.NEGATIVE}
    denial = resolved(candidate("User is not vegan.", source=source, **changes, extractor=f"{PLAIN}x"), subject_id=USER)
    note = resolved(candidate(f"User said: {said}", source=THEN, value=said, tags=(NOTE,)), subject_id=USER)
    memory = known(note, memory_id=OLD, source=THEN)
    assert disputed_by(denial, [memory]) == ((OLD,) if is_disputed else ())
    by_model = denial.evolve(extractor="model:x")
    assert disputed_by(by_model, [memory]) == ()
