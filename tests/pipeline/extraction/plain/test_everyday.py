"""Everyday messages, as a newcomer types them."""

from tests.pipeline.extraction.plain.everyday import EVERYDAY
from tests.pipeline.extraction.plain.plain_helper import note, statements


def test_everyday_messages_are_read_as_expected() -> None:
    read = {text: (sorted(statements(text)), bool(note(text))) for text, _, _ in EVERYDAY}
    assert read == {text: (sorted(expected), is_note) for text, expected, is_note in EVERYDAY}
