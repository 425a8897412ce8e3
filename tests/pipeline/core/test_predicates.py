"""Predicates with the same meaning get the same name, and built-in facts about them overrule the extractor."""

import pytest

from apps.pipeline.core.policy import KnownPredicate, ResolutionPolicy
from apps.pipeline.core.predicates import with_canonical_predicate
from tests.pipeline.builders import candidate, turn

SOURCE = turn("said")
OURS = ResolutionPolicy(
    predicates={
        "on_call_for": KnownPredicate(stateful=True, synonyms=("pager_duty_for",)),
        "likes": KnownPredicate(stateful=False, synonyms=("digs",)),
    }
)


@pytest.mark.parametrize(
    ("told", "flag", "predicate", "stateful"),
    [
        ("works_at", True, "works_at", True),
        ("Has Job-At", False, "works_at", True),
        ("resides_in", False, "lives_in", True),
        ("has_favorite_colour", False, "favourite_colour", True),
        ("enjoys", True, "likes", False),
        ("speaks_language", True, "speaks", False),
        ("repairs", True, "repairs", True),
        ("", True, "", False),
        ("pager_duty_for", False, "on_call_for", True),
        ("digs", True, "likes", False),
    ],
)
def test_one_name_for_one_meaning(told: str, flag: bool, predicate: str, stateful: bool) -> None:
    known = with_canonical_predicate(candidate("x", source=SOURCE, predicate=told, stateful=flag), policy=OURS)
    assert (known.predicate, known.stateful) == (predicate, stateful)
