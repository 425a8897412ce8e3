"""What ends or moves a thing that was told under another predicate."""

from uuid import UUID

import pytest

from apps.pipeline.core.enums import Polarity
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.ended_things import ends_thing
from tests.pipeline.builders import candidate, known, resolved, turn

_USER = UUID(int=9)
_LIFE = "life_event"
_TAKES = "takes_medication"


def told(content: str, predicate: str, *, extractor: str = "patterns:does", day: int = 0) -> StoredMemory:
    said = turn(content, position=day, day=day)
    polarity = Polarity.NEGATIVE if "no longer" in content or "quit" in content else Polarity.POSITIVE
    made = candidate(content, source=said, predicate=predicate, polarity=polarity, extractor=extractor)
    return known(resolved(made, subject_id=_USER), memory_id=UUID(int=day + 1), source=said)


@pytest.mark.parametrize(
    ("new", "predicate", "extractor", "old", "former", "ends"),
    [
        ("User no longer needs the inhaler.", "need", "ongoing", "User uses the blue inhaler.", "uses", True),
        ("User quit the choir.", "does", "given_up", "User sings in a choir on Tuesdays.", "sing", True),
        ("User's yoga is on Mondays.", "yoga", "changing_value", "User does yoga on Thursday evenings.", "does", True),
        ("User's yoga is on Mondays.", "yoga", "changing_value", "User does yoga on Monday evenings.", "does", False),
        ("User no longer takes the brown inhaler.", "need", "ongoing", "User uses the blue inhaler.", "uses", False),
        ("User no longer takes tramadol.", "takes_medication", "x", "Tramadol makes User itch.", "reacts_to", False),
        ("User had to drop Declan.", "have", "event", "User trains with Declan on Mondays.", "train", True),
        ("User had to stop at Tesco.", "have", "having", "User works at Tesco.", "works_at", False),
        ("User stopped at Tesco.", "have", "having", "User works at Tesco.", "works_at", False),
        ("User had to sell some Tesla shares.", "have", "having", "User owns Tesla shares.", "owns", False),
        ("User sold half of the shares.", "have", "having", "User owns half of the shares.", "owns", False),
        ("User had to sell the shares.", "have", "having", "User owns shares.", "owns", True),
        ("User quit the choir early.", "does", "given_up", "User sings in a choir on Tuesdays.", "sing", False),
        ("User had to catch a bus.", "have", "event", "User takes the bus to work.", "take", False),
        # Another medicine, though the name of one ends like that of the other.
        ("User no longer takes citalopram.", _TAKES, "x", "User takes escitalopram.", _TAKES, False),
        ("User no longer takes omeprazole.", _TAKES, "x", "User takes esomeprazole.", _TAKES, False),
        ("User no longer takes cetirizine.", _TAKES, "x", "User takes levocetirizine.", _TAKES, False),
        ("User gave birth.", _LIFE, "x", "User is pregnant.", "expecting", True),
        ("User gave birth to a girl on Tuesday.", _LIFE, "x", "User is pregnant.", "expecting", True),
        ("User had a baby girl last night.", _LIFE, "x", "User is pregnant.", "expecting", True),
        # No birth, or that of another child.
        ("User was born in 1990.", _LIFE, "x", "User is pregnant.", "expecting", False),
        ("User had a baby shower on Saturday.", _LIFE, "x", "User is pregnant.", "expecting", False),
        ("User had a baby scan yesterday.", _LIFE, "x", "User is pregnant.", "expecting", False),
        ("User had a son in 2019.", _LIFE, "x", "User is pregnant.", "expecting", False),
        ("User had a son on 3 May 2019.", _LIFE, "x", "User is pregnant.", "expecting", False),
        ("User likes choirs.", "likes", "likes", "User sings in a choir on Tuesdays.", "sing", False),
    ],
)
def test_ends_thing(new: str, predicate: str, extractor: str, old: str, former: str, ends: bool) -> None:
    later = told(new, predicate, extractor=f"patterns:{extractor}", day=1)
    assert ends_thing(later, told(old, former)) is ends


def test_a_model_says_itself_what_it_replaces() -> None:
    later = told("User quit the choir.", "does", extractor="model", day=1)
    assert not ends_thing(later, told("User sings in a choir on Tuesdays.", "sing"))
