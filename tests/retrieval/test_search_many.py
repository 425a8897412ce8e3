"""Among twenty thousand memories every one is looked at, and two statements are enough."""

import pytest
from django.db import connection

from apps.memories.models import Memory

NEEDLE = "Ana keeps a heron in the lighthouse."
MANY = 20_000

_COPIES = """
insert into memories_memory (id, end_user_id, content, context, canonical_hash, {columns})
select gen_random_uuid(), end_user_id, 'Ana saw boat number ' || copy || '.', '', md5(copy::text), {columns}
from memories_memory cross join generate_series(1, %s) copy where id = %s
"""


@pytest.fixture
def haystack(remember) -> None:
    first = remember("Ana saw a boat.", indexed=False)
    remember(NEEDLE, indexed=False)
    own = {"id", "end_user_id", "content", "context", "canonical_hash"}
    fields = (each for each in Memory._meta.concrete_fields if not each.generated and each.column not in own)
    columns = ", ".join(f'"{each.column}"' for each in fields)
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")  # foreign keys of copies need no check
        cursor.execute(_COPIES.format(columns=columns), [MANY, first.id])
        cursor.execute("set local session_replication_role = origin")


@pytest.mark.usefixtures("haystack")
def test_the_one_that_is_asked_for_is_found(find) -> None:
    assert find("where is the heron") == [NEEDLE]
    assert find("boat number 19999", limit=1) == ["Ana saw boat number 19999."]
    assert len(find("boats", limit=100)) == 100
