"""Django's compilers for PostgreSQL, with several rows inserted by VALUES.

Django's own inserts them by UNNEST. Citus takes that for the result of another query and copies it to the servers by
COPY FROM, which row-level security refuses.
"""

from django.db.backends.postgresql.compiler import (
    SQLAggregateCompiler,
    SQLCompiler,
    SQLDeleteCompiler,
    SQLUpdateCompiler,
)
from django.db.models.sql.compiler import SQLInsertCompiler

__all__ = ["SQLAggregateCompiler", "SQLCompiler", "SQLDeleteCompiler", "SQLInsertCompiler", "SQLUpdateCompiler"]
