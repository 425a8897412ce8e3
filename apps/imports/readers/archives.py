"""Downloads as they come: a ZIP archive with the conversations of ChatGPT or Claude in it."""

import zipfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import IO, BinaryIO

SIGNATURE = b"PK\x03\x04"  # the first bytes of a ZIP archive
CONVERSATIONS = "conversations*.json"
MOST_UNPACKED = 1024 * 1024 * 1024  # bytes


class BadArchive(ValueError):
    """An archive that can't be read, or that has no conversations in it."""


def conversation_files(archive: BinaryIO) -> Iterator[IO[bytes]]:
    """Yield the files of conversations in an archive, in the order of their names. Raises BadArchive."""
    try:
        with zipfile.ZipFile(archive) as opened:
            found = [each for each in opened.infolist() if fnmatch(PurePosixPath(each.filename).name, CONVERSATIONS)]
            if not found:
                raise BadArchive(f"the archive has no {CONVERSATIONS} in it")
            if sum(each.file_size for each in found) > MOST_UNPACKED:
                raise BadArchive(f"the conversations in the archive are larger than {MOST_UNPACKED:,} bytes")
            for each in sorted(found, key=lambda info: info.filename):
                with opened.open(each) as stream:
                    yield stream
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise BadArchive("the archive is damaged or encrypted") from error
