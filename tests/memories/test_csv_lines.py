"""No cell of an exported table is a formula for a spreadsheet."""

import pytest

from apps.common.csv_lines import csv_line


@pytest.mark.parametrize(
    "text", ["=1+1", " =1+1", "\u3000=1", "\t=1", "\tx", "\rx", "+1", "-1", "@a", "＝1", "＋1", "－1", "＠a"]
)
def test_a_text_that_looks_like_a_formula_begins_with_an_apostrophe(text: str) -> None:
    assert csv_line([text]).strip("\r\n").strip('"').startswith("'")


def test_other_cells_are_shown_as_they_are() -> None:
    assert csv_line(["tea", None, -1, "a=b", "a, b"]) == 'tea,,-1,a=b,"a, b"\r\n'
