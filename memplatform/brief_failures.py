"""Failures in one line, without the values that PostgreSQL and validators quote: these are users' texts."""

import re
import traceback
from collections.abc import Iterator

import psycopg
from django.db import Error as DjangoError
from django.db import InterfaceError, OperationalError

MOST_CHARACTERS = 300  # of a message
MOST_PLACES = 6  # of a traceback, innermost first
# What follows quotes the row or the parameters of a statement.
_QUOTED = re.compile(r"\s*\b(DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=\n\S|\Z)", re.DOTALL)
# Values in the messages of violations and of wrong input: `(email)=(ana@example.com)`, `type integer: "Ana"`.
_VALUES = re.compile(r"\)=\(.*?\)|(?<=: )\".*?\"(?=\s|$)", re.DOTALL)


def brief(error: BaseException) -> str:
    """Return type, message and places of an error, and the type of its cause."""
    cause = error.__cause__
    reason = f", from {type(cause).__name__}" if cause and not isinstance(error, DjangoError) else ""
    return f"{type(error).__name__}: {_told(error)}{reason} at {' < '.join(_places(error))}"


def without_values(text: str) -> str:
    """Return a text as one line, without what PostgreSQL quotes of rows and parameters."""
    return " | ".join(line.strip() for line in _QUOTED.sub("", text).splitlines() if line.strip())


def _told(error: BaseException) -> str:
    known = error.__cause__ if isinstance(error, DjangoError) else error
    if isinstance(known, psycopg.Error) and not isinstance(error, OperationalError | InterfaceError):
        # The message may quote a value.
        diag = known.diag
        named = {"table": diag.table_name, "column": diag.column_name, "constraint": diag.constraint_name}
        return " ".join([f"SQLSTATE {known.sqlstate}", *(f"{name} {value}" for name, value in named.items() if value)])
    return _VALUES.sub("", without_values(str(error).partition("\n")[0]))[:MOST_CHARACTERS]


def _places(error: BaseException) -> Iterator[str]:
    frames = traceback.extract_tb(error.__traceback__)
    for frame in frames[: -MOST_PLACES - 1 : -1]:
        yield f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} in {frame.name}"
