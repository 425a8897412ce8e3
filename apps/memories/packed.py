"""The statement that packs one end user's memories into records, and how the records are laid out.

What has one length in every memory is one record of bytes, for an aggregate a value costs more than the values do.
"""

import numpy as np

from apps.memories.meant import MEANT
from apps.memories.scope import Scope

# Of few questions each slot is compared by itself, which takes half the time of unnesting them; long vectors lie apart
# from their row and would be fetched once a slot.
_SLOTS, _INLINE_DIMENSION = 4, 768

# Two aggregations of one row each, put together by numpy: a join of thousands of rows goes wrong where the planner has
# no statistics yet. "offset 0" has each vector compared as it is read, instead of carried into the grouping.
_COLUMNS = """
select query_terms(words.tongues, %(query)s), words.terms, words.context_terms, words.packed, meaning.packed
from (
    select bit_or(1 << m.tongue) as tongues,
           string_agg({terms}, '') as terms,
           string_agg(m.context_terms, '') as context_terms,
           string_agg(
               uuid_send(m.id)
               || uuid_send(coalesce(m.session_id, m.id))
               || timestamptz_send(m.said_at)
               || float4send(m.importance::float4)
               || float4send(m.confidence::float4)
               || int4send(octet_length({terms}))
               || int4send(octet_length(m.context_terms))
               || boolsend(meant.is_anyone and coalesce(
                      m.subject_id = any(meant.ids) or m.object->>'entity' = any(meant.shown), false))
               || boolsend(meant.is_anyone and m.predicate <> '' and m.subject_id is not null and not coalesce(
                      m.subject_id = any(meant.ids) or m.subject_id = any(meant.own)
                      or m.object->>'entity' = any(meant.shown), false))
               || boolsend({eligible}), '') as packed
    from {rows} m, ({meant}) meant
    where m.end_user_id = %(end_user)s and {searched}
) words, (
    select string_agg(
               uuid_send(memory_id)
               || float4send(content::float4)
               || float4send(coalesce(questions, 'NaN')::float4), '') as packed
    from (
        select memory_id, -(embedding <#> %(vector)s::halfvec) as content,
               case when cardinality(questions) <= {slots} and dimension <= {inline} then -least({each_slot})
                    else -(select min(each <#> %(vector)s::halfvec) from unnest(question_embeddings) each)
               end as questions
        from memories_memoryvector
        where end_user_id = %(end_user)s and embedder = %(embedder)s and dimension = %(dimension)s
        offset 0
    ) compared
) meaning
"""
_EACH_SLOT = ", ".join(f"question_embeddings[{slot}] <#> %(vector)s::halfvec" for slot in range(1, _SLOTS + 1))
MEMORY = np.dtype(
    [
        ("id", ">u8", 2),
        ("session", ">u8", 2),
        ("said_at", ">i8"),  # microseconds since 2000
        ("importance", ">f4"),
        ("confidence", ">f4"),
        ("terms", ">i4"),  # bytes
        ("context_terms", ">i4"),
        ("named", "?"),
        ("of_others", "?"),
        ("eligible", "?"),
    ]
)
QUERY = np.dtype([("place", ">i4"), ("term", ">u4")])
VECTOR = np.dtype([("memory", ">u8", 2), ("content", ">f4"), ("questions", ">f4")])


def packing(scope: Scope) -> str:
    """Return the statement for a scope; it answers one row: QUERY, terms, terms of the context, MEMORY, VECTOR."""
    return _COLUMNS.format(
        rows=scope.rows,
        terms=scope.terms,
        searched=scope.searched,
        eligible=scope.eligible,
        meant=MEANT,
        slots=_SLOTS,
        inline=_INLINE_DIMENSION,
        each_slot=_EACH_SLOT,
    )
