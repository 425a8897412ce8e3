"""No file makes a reader hold more than its bounds; what is too large costs its own entry; problems quote nothing."""

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.actions.transfers import row_blocks as blocks
from apps.actions.transfers.row_blocks import RowBlock, row_blocks
from apps.imports.readers import bounded_strings as bounding
from apps.imports.readers import json_elements
from apps.imports.readers.bounded_strings import bounded_strings
from apps.imports.readers.entries import ImportedMemory, ImportProblem
from apps.pipeline.core.enums import ImportFormat
from tests.imports.readers.read_files import HUMAN, MEM0, OWN, claude, problems, read, said

TEXTS = st.text(alphabet='ab"\\/é😀\n\u2028', max_size=60)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
SECRET = "Xyloquartz"


def bounded(raw: bytes, *, most: int, block: int) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding, "MOST_STRING", most)
        patch.setattr(bounding, "BLOCK", block)
        return bounded_strings(BytesIO(raw)).read()


@given(value=VALUES, is_ascii=st.booleans(), block=st.integers(1, 30))
def test_what_is_short_enough_stays_as_it_is(value: Any, is_ascii: bool, block: int) -> None:
    raw = json.dumps(value, ensure_ascii=is_ascii, indent=1).encode()
    assert bounded(raw, most=10_000, block=block) == raw


@given(texts=st.lists(TEXTS | st.text(alphabet='a"\\é😀', min_size=80), max_size=5), is_ascii=st.booleans())
def test_a_long_string_is_cut_and_the_others_are_whole(texts: list[str], is_ascii: bool) -> None:
    block = 1 + len(texts[0]) % 20 if texts else 7
    raw = json.dumps({"texts": texts, "after": 1}, ensure_ascii=is_ascii).encode()

    read_again = json.loads(bounded(raw, most=120, block=block))

    assert (read_again["after"], len(read_again["texts"])) == (1, len(texts))
    for whole, told in zip(texts, read_again["texts"], strict=True):
        if len(json.dumps(whole)) <= 100:
            assert told == whole
        assert whole.encode("utf-16-le").startswith(told.encode("utf-16-le", "surrogatepass"))


def test_a_huge_string_costs_its_own_entry_alone() -> None:
    huge = "y" * 3_000_000
    raw = json.dumps([claude({**HUMAN, "text": huge}), claude(HUMAN, name=huge), claude(HUMAN)]).encode()
    assert len(bounded_strings(BytesIO(raw)).read()) < 2 * (bounding.MOST_STRING + 2 * bounding.BLOCK)

    entries = read(ImportFormat.CLAUDE, raw)
    assert [place for place, _ in problems(entries)] == ["conversation 1, message 1"]
    assert said(entries) == [("user", "I live in Rome.")] * 2


@pytest.mark.parametrize("raw", [b"[" + b"1" * 3_000_000 + b"]", b"[" + b"t" * 3_000_000])
def test_a_number_without_end_is_told(raw: bytes) -> None:
    assert [place for place, _ in problems(read(ImportFormat.CLAUDE, raw))] == ["the file"]


def test_what_is_beside_a_list_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_elements, "MOST_CHARACTERS", 2_000)
    beside = {f"other {number}": "x" * 500 for number in range(10)}
    for document in ({**beside, "results": [MEM0]}, {"results": [MEM0], **beside}):
        (entry,) = read(ImportFormat.MEM0, document)
        assert isinstance(entry, ImportedMemory)
    assert [place for place, _ in problems(read(ImportFormat.MEM0, {**MEM0, **beside}))] == ["element 1"]


def test_an_end_user_with_too_many_rows_is_told_and_the_others_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_BYTES", 1_000)
    lines: list[dict[str, Any]] = [{"schema": "memplatform-project", "version": 1}]
    for user, count in (("ana", 20), (SECRET, 2)):
        lines.append({"kind": "end_user", "end_user_id": user, "row": {"user_id": user}})
        lines += [{"kind": "turns", "end_user_id": user, "row": {"id": "x" * 50}}] * count
    read_again = list(row_blocks(BytesIO("\n".join(map(json.dumps, lines)).encode())))

    told = [each for each in read_again if isinstance(each, ImportProblem)]
    assert [(each.at, "1,000 bytes" in each.reason) for each in told] == [("the end user of line 2", True)]
    kept = [each for each in read_again if isinstance(each, RowBlock)]
    assert [each.user_id for each in kept] == ["", SECRET]
    assert not any(SECRET in each.at for each in kept)


def quoting() -> list[tuple[ImportFormat, Any]]:
    """Files with an invalid entry, each of which says the secret at the place that is wrong."""
    turn = {"session_id": "s", "role": "user", "content": "Hello"}
    return [
        (ImportFormat.JSONL, {**turn, "role": f"{SECRET}' - \n at"}),
        (ImportFormat.JSONL, {**turn, SECRET: 1}),
        (ImportFormat.MEMORIES, {**OWN, "status": SECRET}),
        (ImportFormat.MEM0, [{**MEM0, "metadata": {SECRET: "a\0b"}}]),
        (ImportFormat.MEM0, [{**MEM0, "metadata": {"a": SECRET * 1_000}}]),
        (ImportFormat.MEM0, [{**MEM0, "id": f"{SECRET}\0"}]),
        (ImportFormat.MEM0, [{**MEM0, "user_id": f"{SECRET}\n"}]),
        (ImportFormat.CHAT, [{"role": {SECRET: 1}, "content": "hi"}]),
        (ImportFormat.CHAT, f'[{{"role": "user", {SECRET}'.encode()),
        (ImportFormat.CLAUDE, f'[{{"uuid": {SECRET}'.encode()),
        (ImportFormat.CLAUDE, [claude({**HUMAN, "sender": SECRET})]),
    ]


@pytest.mark.parametrize(("name", "content"), quoting())
def test_problems_quote_nothing(name: ImportFormat, content: Any) -> None:
    told = problems(read(name, content))
    assert told
    assert SECRET not in str(told)
