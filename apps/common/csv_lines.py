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
    text = io.StringIO()
    csv.writer(text).writerow([_cell(each) for each in cells])
    return text.getvalue()


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    is_risky = text.startswith(_RISKY_SPACES) or text.lstrip().startswith(_RISKY)
    return f"'{text}" if isinstance(value, str) and is_risky else text
