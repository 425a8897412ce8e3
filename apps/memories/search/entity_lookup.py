"""Whom a query means, as SQL: entities by any of their names, whom a relation leads to, and the end user.

"Where does my manager live" names nobody by name; the alias "User's manager" or the memory that says who it is leads
on, from either side: User has_manager Priya, Lena sister_of User. The end user is meant where a first person asks and
nobody else is named; who asks for "my trip to Rome" speaks of themselves and of Rome.
"""

from typing import Any

from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.retrieval.query_entities import Names

# One row: `ids` and `shown` (hashed) are whom the query means, `own` the end user where an "I" speaks beside them, or a
# "my" that leads to nobody.
MEANT = """
with own as (
    select id from memories_entity where end_user_id = %(end_user)s and is_user and (%(says_i)s or %(says_my)s)
), called as (
    select entity_id as id, starts_with(folded, 'user s ') as is_led
    from memories_entityalias where end_user_id = %(end_user)s and folded = any(%(phrases)s)
    union
    select id, false from memories_entity where end_user_id = %(end_user)s and merged_into_id is null and (
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
    """Return what the statement takes, but for the end user."""
    return {
        "prefix": f"{Prefix.ENTITY}_",
        "phrases": list(names.phrases),
        "predicates": list(names.predicates),
        "inverses": list(names.inverses),
        "says_i": names.says_i,
        "says_my": names.says_my,
    }
