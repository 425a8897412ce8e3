"""The triple of an edited sentence."""

import pytest

from apps.memories.services.revising import disagrees, reworded
from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.core.statement import Mention, ObjectValue, Statement


def lives_in(place: str, content: str = "") -> Statement:
    return Statement(
        type=MemoryType.FACT,
        predicate="lives_in",
        object=ObjectValue(entity=Mention(place, EntityType.PLACE)),
        content=content or f"User lives in {place}.",
        stateful=True,
    )


def likes(thing: str) -> Statement:
    return Statement(
        type=MemoryType.PREFERENCE, predicate="likes", object=ObjectValue(literal=thing), content=f"User likes {thing}."
    )


@pytest.mark.parametrize(
    ("before", "content", "predicate", "value"),
    [
        # Only case and punctuation differ.
        (lives_in("Lyon"), "user lives in  Lyon", "lives_in", "Lyon"),
        # Only the words of the value have changed.
        (lives_in("Lyon"), "User lives in Marseille.", "lives_in", "Marseille"),
        (lives_in("Lyon"), "User lives in Marseille", "lives_in", "Marseille"),
        (lives_in("Lyon"), "User lives in Aix-en-Provence.", "lives_in", "Aix-en-Provence"),
        (lives_in("Lyon", "User lives in Lyon with Ben."), "User lives in Nice with Ben.", "lives_in", "Nice"),
        (likes("tea"), "User likes green olives.", "likes", "green olives"),
        # Other words have changed, too: no value is better than a stale one.
        (lives_in("Lyon"), "User lives in Marseille and works at Acme.", "lives_in", "Marseille and works at Acme"),
        (lives_in("Lyon"), "User used to live in Lyon.", "lives_in", ""),
        (lives_in("Lyon"), "Ana lives in Marseille.", "lives_in", ""),
        (likes("tea"), "User lives in Lyon.", "likes", ""),
        (lives_in("Lyon"), "Where they live is a secret.", "lives_in", ""),
    ],
)
def test_the_triple_follows_the_sentence(before: Statement, content: str, predicate: str, value: str) -> None:
    after = reworded(before, content=content)
    assert (after.content, after.predicate, after.object_text) == (content, predicate, value)


def test_a_new_value_is_of_the_kind_of_the_old_one() -> None:
    place = reworded(lives_in("Lyon"), content="User lives in Xyz.").object
    assert place.entity == Mention("Xyz", EntityType.PLACE)
    assert reworded(likes("tea"), content="User likes rain.").object.literal == "rain"


@pytest.mark.parametrize(
    ("before", "content", "value", "is_refused"),
    [
        (lives_in("Lyon"), "User lives in Nice.", "Nice", False),
        (lives_in("Lyon"), "User lives in Nice.", "NICE", False),
        (lives_in("Lyon"), "User lives in Nice.", "Lyon", True),
        (lives_in("Lyon"), "User lives in Niceville.", "Nice", True),
        # The old value was spelled differently from the sentence, so the two can't be compared.
        (lives_in("1990-05-03", "User was born on 3 May 1990."), "User was born on 4 May 1990.", "1990-05-04", False),
    ],
)
def test_a_value_has_to_occur_in_the_sentence(before: Statement, content: str, value: str, is_refused: bool) -> None:
    assert disagrees(before, content=content, value=ObjectValue(literal=value)) is is_refused


def test_each_item_of_a_list_has_to_occur() -> None:
    items = ObjectValue(items=("tea", "rain"))
    assert not disagrees(likes("tea"), content="User likes rain and tea.", value=items)
    assert disagrees(likes("tea"), content="User likes tea.", value=items)
