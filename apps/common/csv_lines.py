"""Lines of CSV that spreadsheets show as they are."""

import csv
import io
from collections.abc import Iterable
from typing import Any

# Spreadsheets take such cells for formulas, also after spaces.
_RISKY = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_RISKY_SPACES = ("\t", "\r")


def csv_line(cells: Iterable[Any]) -> str:
    """Return one line of CSV; None is an empty cell, and a text that looks like a formula begins with an apostrophe."""
    line = io.StringIO()
    row = list(cells)
    for place, value in enumerate(row):
        if isinstance(value, str) and (value.startswith(_RISKY_SPACES) or value.lstrip().startswith(_RISKY)):
            row[place] = f"'{value}"
    csv.writer(line).writerow(row)
    return line.getvalue()
