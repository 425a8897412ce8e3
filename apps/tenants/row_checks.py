"""Check constraints that call a function of the database, for tables that every request or drained turn writes.

PostgreSQL parses the expression of each check constraint anew in every statement that writes the table. A list of ten
words costs more than the insertion of the row; the call of a function, whose body stays parsed, a quarter of that
(docs/decisions/speed.md). The functions are written in migrations; tests/tenants/test_row_checks.py compares their
lists with the enums.
"""

from django.db.models import BooleanField, CheckConstraint, Func


def row_check(function: str, *fields: str, name: str) -> CheckConstraint:
    """Return a constraint that a function holds for these fields of a row."""
    return CheckConstraint(condition=Func(*fields, function=function, output_field=BooleanField()), name=name)
