"""The statement that packs one end user's memories into records, and how the records are laid out.

What has one length in every memory is one record of bytes, for an aggregate a value costs more than the values do.
"""

import numpy as np

from apps.memories.meant import MEANT
from apps.memories.scope import Scope

# Of few questions each slot is compared by itself, which takes half the time of unnesting them; long vectors lie apart
# from their row and would be fetched once a slot.
_SLOTS, _INLINE_DIMENSION = 4, 768

# Aggregations of one row each, put together by numpy: a join of thousands of rows goes wrong where the planner has no
# statistics yet. "offset 0" has each vector compared as it is read, instead of carried into the grouping. Nothing is
# read of what is held at this revision; of what was wanted at it before, the vectors come whole, to be held.
# "(select …)" hides whose memories these are from the planner, which else plans anew each time for the same plan.
_COLUMNS = """
select query_terms(coalesce(words.tongues, %(tongues)s), %(query)s), revised.number,
       meant.ids, meant.shown, meant.own, words.*, meaning.*, vectors.*
from (
    select coalesce((select number from memories_memoryrevision where end_user_id = %(end_user)s), 0) as number
) revised, ({meant}) meant, lateral (
    select bit_or(1 << m.tongue) as tongues,
           min(least(m.expires_at, m.valid_until)) filter (where least(m.expires_at, m.valid_until) > %(moment)s),
           string_agg({terms}, ''),
           string_agg(m.context_terms, ''),
           string_agg(
               uuid_send(m.id)
               || uuid_send(coalesce(m.session_id, m.id))
               || uuid_send(coalesce(m.subject_id, %(nobody)s))
               || int8send(coalesce(hashtextextended(m.object->>'entity', 0), 0))
               || timestamptz_send(m.said_at)
               || float8send(m.confidence)
               || float4send(m.importance::float4)
               || int4send(octet_length({terms}))
               || int4send(octet_length(m.context_terms))
               || boolsend(m.predicate <> '' and m.subject_id is not null)
               || boolsend({eligible}), '')
    from {rows} m
    where revised.number <> %(held)s and m.end_user_id = (select %(end_user)s::uuid) and {searched}
) words, lateral (
    select string_agg(
               uuid_send(memory_id)
               || float4send(content::float4)
               || float4send(coalesce(questions, 'NaN')::float4), '')
    from (
        select memory_id, -(embedding <#> %(vector)s::halfvec) as content,
               case when cardinality(questions) <= {slots} and dimension <= {inline} then -least({each_slot})
                    else -(select min(each <#> %(vector)s::halfvec) from unnest(question_embeddings) each)
               end as questions
        from memories_memoryvector
        where revised.number <> %(held)s and revised.number <> %(wanted)s
          and end_user_id = (select %(end_user)s::uuid) and embedder = %(embedder)s and dimension = %(dimension)s
        offset 0
    ) compared
) meaning, lateral (
    select string_agg(uuid_send(memory_id) || int4send(cardinality(question_embeddings)), ''),
           string_agg(halfvec_send(embedding), ''),
           string_agg(
               case when cardinality(question_embeddings) <= {slots} then {sent_slots}
                    else (select string_agg(halfvec_send(each), '') from unnest(question_embeddings) each)
               end, '')
    from memories_memoryvector
    where revised.number = %(wanted)s
      and end_user_id = (select %(end_user)s::uuid) and embedder = %(embedder)s and dimension = %(dimension)s
) vectors
"""
_QUESTIONS = [f"question_embeddings[{slot}]" for slot in range(1, _SLOTS + 1)]
_EACH_SLOT = ", ".join(f"{each} <#> %(vector)s::halfvec" for each in _QUESTIONS)
_SENT_SLOTS = " || ".join(f"coalesce(halfvec_send({each}), '')" for each in _QUESTIONS)
MEMORY = np.dtype(
    [
        ("id", ">u8", 2),
        ("session", ">u8", 2),
        ("subject", ">u8", 2),
        ("object", ">i8"),  # a hash of the entity's identifier
        ("said_at", ">i8"),  # microseconds since 2000
        ("confidence", ">f8"),
        ("importance", ">f4"),
        ("terms", ">i4"),  # bytes
        ("context_terms", ">i4"),
        ("is_of_someone", "?"),
        ("eligible", "?"),
    ]
)
QUERY = np.dtype([("place", ">i4"), ("term", ">u4")])
COSINES = np.dtype([("memory", ">u8", 2), ("content", ">f4"), ("questions", ">f4")])
VECTOR = np.dtype([("memory", ">u8", 2), ("questions", ">i4")])


def packing(scope: Scope) -> str:
    """Return the statement for a scope; unpacked.Answer says what its one row holds."""
    return _COLUMNS.format(
        rows=scope.rows,
        terms=scope.terms,
        searched=scope.searched,
        eligible=scope.eligible,
        meant=MEANT,
        slots=_SLOTS,
        inline=_INLINE_DIMENSION,
        each_slot=_EACH_SLOT,
        sent_slots=_SENT_SLOTS,
    )
