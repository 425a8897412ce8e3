"""The entities that a query refers to: by name, through a relation, or as the end user.

"Where does my manager live" contains no name. The manager is found through the alias "User's manager" or a memory that
states the relation in either direction (User has_manager Priya, Lena sister_of User). The end user is meant where the
query is in the first person and names nobody else; "my trip to Rome" refers to both the end user and Rome.
"""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Func, Q, TextField, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Lower

from apps.memories.models import Entity, EntityAlias, Memory
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.identifiers import Prefix, parse, show
from apps.retrieval.query_text import Names

_NAMED = Entity.objects.alias(  # put together once: building it takes longer than its statement
    lowered=Lower("name"),
    user_id=Lower("end_user__external_id"),
    first_name=Func(Lower("name"), Value(" "), Value(1), function="split_part", output_field=TextField()),
).filter(merged_into=None, withdrawn=False)
_LED_BY_USER = "user s "  # "User's manager" in its canonical form


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The entities that a query refers to; `own` is the end user's, where the query also speaks of the end user."""

    entities: frozenset[UUID] = frozenset()
    own: frozenset[UUID] = frozenset()

    @property
    def shown(self) -> frozenset[str]:
        """Return the identifiers of the entities as objects of memories have them."""
        return frozenset(show(Prefix.ENTITY, each) for each in self.entities)


def mentioned_entities(names: Names, *, end_user_id: UUID) -> Mentioned:
    """Find the entities in at most four short queries."""
    if not names.phrases:
        return Mentioned()
    aliases = EntityAlias.objects.filter(end_user_id=end_user_id, folded__in=names.phrases, withdrawn=False)
    by_alias = list(aliases.order_by().values_list("entity_id", "folded"))
    related = {entity_id for entity_id, folded in by_alias if folded.startswith(_LED_BY_USER)}
    by_name = _NAMED.filter(
        Q(lowered__in=names.phrases)
        | Q(type=EntityType.PERSON, first_name__in=[each for each in names.phrases if " " not in each])
        | Q(is_user=True, user_id__in=names.phrases),  # callers know the end user by this name
        end_user_id=end_user_id,
    ).order_by()
    called = {*by_name.values_list("id", flat=True), *(entity_id for entity_id, _ in by_alias)}
    users = Entity.objects.filter(end_user_id=end_user_id, is_user=True).order_by()
    own = set(users.values_list("id", flat=True)) if names.says_i or names.says_my else set()
    known = called | own
    shown = [show(Prefix.ENTITY, each) for each in known]
    # A relation of the query may connect a known entity with another one, in either direction.
    told = (
        Memory.objects.for_end_user(end_user_id)
        .active()
        .annotate(object_entity=KeyTextTransform("entity", "object"))
        .filter(
            Q(predicate__in=names.predicates, subject_id__in=known, object_entity__isnull=False)
            | Q(predicate__in=names.inverses, object_entity__in=shown, subject_id__isnull=False)
        )
        .values_list("predicate", "subject_id", "object_entity")
    )
    for predicate, subject_id, entity in told if known else ():
        if predicate in names.predicates and subject_id in known and entity:
            related.add(parse(Prefix.ENTITY, entity))
        if predicate in names.inverses and entity in shown and subject_id:
            related.add(subject_id)
    is_meant = names.says_i or not related
    return Mentioned(entities=frozenset(called | related or own), own=frozenset(own if is_meant else ()))
