"""Long statements without the white space that only readers of the code need."""

import re


def compact_sql(sql: str) -> str:
    """Remove white space that SQL does not need: psycopg caches the parsed form of up to 4,096 characters.

    Literals must not contain two spaces in a row, or a space beside a bracket or an operator.
    """
    return re.sub(r" ?([(),=<>+-]) ?", r"\1", " ".join(sql.split()))
