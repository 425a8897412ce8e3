"""The statement of an acknowledgement stays short enough for psycopg to keep it parsed: a fifth of a request."""

import pytest
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH

from apps.intake import accept


@pytest.mark.parametrize("statement", [accept._RECORD, accept._RECORD_AND_ENQUEUE])
def test_it_is_kept_parsed(statement: str) -> None:
    assert len(statement) <= MAX_CACHED_STATEMENT_LENGTH
