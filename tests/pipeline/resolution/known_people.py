"""A family of known people, and the resolution of what is said of them."""

from collections.abc import Sequence
from uuid import UUID

from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.resolution import resolve_refs
from tests.pipeline.builders import CountedIds, draft_of

USER = KnownEntity(id=UUID(int=50), name="User", type=EntityType.PERSON, is_user=True)
LENA = KnownEntity(id=UUID(int=51), name="Lena", type=EntityType.PERSON, aliases=("User's sister",))
TOM = KnownEntity(id=UUID(int=52), name="Tom", type=EntityType.PERSON, aliases=("User's brother",))
BOB = KnownEntity(id=UUID(int=53), name="Bob", type=EntityType.PERSON, aliases=("User's manager",))
ARRIVE = KnownEntity(id=UUID(int=54), name="Arrive", type=EntityType.ORGANISATION, aliases=("User's company",))
FAMILY = (USER, LENA, TOM, BOB, ARRIVE)


def resolve(
    candidates: Sequence[Candidate],
    *,
    turns: Sequence[SourceTurn],
    known: Sequence[KnownEntity] = FAMILY,
    earlier: Sequence[SourceTurn] = (),
) -> Draft:
    draft = draft_of(candidates, turns=turns, earlier=earlier)
    return resolve_refs.decide(draft, known=known, new_id=CountedIds().new)
