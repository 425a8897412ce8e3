"""The compilers of Django for PostgreSQL, with inserts of several rows that Citus takes, too."""

from typing import Any

from django.db.backends.postgresql import compiler
from django.db.backends.postgresql.compiler import (
    SQLAggregateCompiler,
    SQLCompiler,
    SQLDeleteCompiler,
    SQLUpdateCompiler,
)

from memplatform.postgresql.base import DatabaseWrapper

__all__ = ["SQLAggregateCompiler", "SQLCompiler", "SQLDeleteCompiler", "SQLInsertCompiler", "SQLUpdateCompiler"]


class SQLInsertCompiler(compiler.SQLInsertCompiler):
    """Insert several rows by UNNEST as Django does, or by VALUES where the database has Citus.

    Citus takes what UNNEST returns for the result of another query and copies it to the servers by COPY FROM, which
    row-level security refuses.
    """

    connection: DatabaseWrapper

    def assemble_as_sql(self, fields: Any, value_rows: Any) -> Any:
        """Return the placeholders of the rows and their parameters."""
        self.connection.ensure_connection()
        if self.connection.has_citus:
            return super(compiler.SQLInsertCompiler, self).assemble_as_sql(fields, value_rows)
        return super().assemble_as_sql(fields, value_rows)
