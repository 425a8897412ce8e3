"""A JSON document without strings that are too long: what is beyond a limit never reaches the parser.

A parser keeps a whole string in memory, and one string may be as large as the file. A string that is cut here is longer
than any text that is taken, so that the reader refuses its entry, or ignores it as before, and reads the others.
"""

import io
import re
from typing import BinaryIO, cast

import ijson

MOST_STRING = 1024 * 1024  # bytes of a string, and up to a block more; 12 of them may be one character
BLOCK = 64 * 1024
_END = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)  # up to the quote that ends a string
_PUNCTUATION = re.compile(rb'[\s,:\[\]{}"]')
# The beginning of a character in UTF-8, or of an escape, of which the rest is in the next block.
_BEGUN = re.compile(rb"(?:[\xc0-\xff][\x80-\xbf]{0,2}|\\(?:u[0-9a-fA-F]{0,3})?)\Z")


class _BoundedStrings(io.RawIOBase):
    """Reads blocks, and knows whether a string is open where a block ends."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._held = b""  # of the last block, what only the next one completes
        self._is_open = False
        self._length = 0  # since the last quote, or outside of strings since the last punctuation
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(cast(bytearray, buffer)).cast("B")
        while not self._ready:
            block = self._stream.read(BLOCK)
            if not block and not self._held:
                return 0
            self._ready = self._bounded(self._held + block, is_last=not block)
        size = min(len(target), len(self._ready))
        target[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _bounded(self, block: bytes, *, is_last: bool) -> bytes:
        """Return what of a block the parser may see. Raises JSONError."""
        begun = 0 if is_last else _begun(block)
        block, self._held = block[: len(block) - begun], block[len(block) - begun :]
        if self._is_open and self._length > MOST_STRING:
            end = _END.match(block)
            if end is None:
                return b""
            block = block[end.end() - 1 :]
        self._follow(block)
        return block

    def _follow(self, block: bytes) -> None:
        plain = block.replace(b"\\\\", b"__").replace(b'\\"', b"__")  # without quotes that are escaped
        quotes = plain.count(b'"')
        self._is_open ^= bool(quotes % 2)
        if quotes:
            self._length = len(plain) - plain.rfind(b'"')
        elif self._is_open or not _PUNCTUATION.search(block):
            self._length += len(block)
        else:
            self._length = 0
        if self._length > MOST_STRING and not self._is_open:
            raise ijson.JSONError("a number or name is too long")


def _begun(block: bytes) -> int:
    """Return how many bytes at the end of a block belong to what the next block completes."""
    tail = block[-5:]
    match = _BEGUN.search(tail)
    if match is None:
        return 0
    if match[0].startswith(b"\\"):
        before = block[: len(block) - len(match[0])]
        if (len(before) - len(before.rstrip(b"\\"))) % 2:
            return 0  # the backslash is escaped itself
    return len(match[0])


def bounded_strings(stream: BinaryIO) -> BinaryIO:
    """Return a JSON document whose strings have MOST_STRING bytes or a block more at most. Reading raises JSONError."""
    return cast(BinaryIO, io.BufferedReader(_BoundedStrings(stream), buffer_size=BLOCK))
