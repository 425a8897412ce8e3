"""SQL that finds the entities a query refers to: by name, through a relation, or as the end user.

"Where does my manager live" contains no name. The manager is found through the alias "User's manager" or a memory that
states the relation in either direction (User has_manager Priya, Lena sister_of User). The end user is meant where the
query is in the first person and names nobody else; "my trip to Rome" refers to both the end user and Rome.
"""

from typing import Any

from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.retrieval.query_entities import Names

# One row: `ids` are the entities that the query refers to, `shown` the hashes of their public identifiers, and `own`
# the end user's entity where the query says "I", or "my" without a relation that leads to another entity.
MEANT = """
with own as (
    select id from memories_entity where end_user_id = %(end_user)s and is_user and (%(says_i)s or %(says_my)s)
), called as (
    select entity_id as id, starts_with(folded, 'user s ') as is_led
    from memories_entityalias where end_user_id = %(end_user)s and folded = any(%(phrases)s) and not withdrawn
    union
    select id, false from memories_entity
    where end_user_id = %(end_user)s and merged_into_id is null and not withdrawn and (
        lower(name) = any(%(phrases)s) or (type = 'person' and split_part(lower(name), ' ', 1) = any(%(phrases)s)))
), known as (
    select id from called union select id from own
), related as (
    select id from called where is_led
    union
    select replace(m.object->>'entity', %(prefix)s, '')::uuid as id from memories_memory m
    where m.end_user_id = %(end_user)s and m.status = 'active'
      and m.predicate = any((select %(predicates)s::text[])::text[])
      and m.object ? 'entity' and m.subject_id in (select id from known)
    union
    select m.subject_id from memories_memory m
    where m.end_user_id = %(end_user)s and m.status = 'active' and m.subject_id is not null
      and m.predicate = any((select %(inverses)s::text[])::text[])
      and m.object->>'entity' in (select %(prefix)s || replace(id::text, '-', '') from known)
), others as (
    select id from called union select id from related
), found as (
    select id from others union select id from own where not exists (select from others)
)
select array(select id from found) as ids,
       array(select hashtextextended(%(prefix)s || replace(id::text, '-', ''), 0) from found) as shown,
       array(select id from own where %(says_i)s or not exists (select from related)) as own
offset 0
"""


def meant_values(names: Names) -> dict[str, Any]:
    """Return the query parameters of MEANT, except for the end user."""
    return {
        "prefix": f"{Prefix.ENTITY}_",
        "phrases": list(names.phrases),
        "predicates": list(names.predicates),
        "inverses": list(names.inverses),
        "says_i": names.says_i,
        "says_my": names.says_my,
    }
