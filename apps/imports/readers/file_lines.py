"""The lines of a large file, one at a time."""

from collections.abc import Iterator
from typing import BinaryIO

from apps.imports.readers.entries import ImportProblem

MOST_BYTES = 4 * 1024 * 1024  # of one line


def file_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes] | ImportProblem]:
    """Yield the lines that are not blank, with their numbers from 1; a problem in place of one that is too long."""
    number = 0
    while line := stream.readline(MOST_BYTES + 1):
        number += 1
        if len(line) > MOST_BYTES:
            yield ImportProblem(f"line {number}", f"is longer than {MOST_BYTES:,} bytes")
            while line and not line.endswith(b"\n"):
                line = stream.readline(MOST_BYTES)
        elif line.strip():
            yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
