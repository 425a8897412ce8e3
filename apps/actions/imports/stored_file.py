"""The file of an import as a stream, read part by part."""

import io
from typing import BinaryIO, cast

from apps.imports.models import FileImport, FilePart

_BUFFER = 256 * 1024


class _Parts(io.RawIOBase):
    """Reads the parts in their order, one at a time."""

    def __init__(self, file_import: FileImport) -> None:
        self._parts = FilePart.objects.filter(file_import=file_import).order_by("number")
        self._number = 0
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer; return how many bytes it got, 0 at the end."""
        target = memoryview(cast(bytearray, buffer)).cast("B")
        if not self._rest:
            part = self._parts.filter(number__gt=self._number).first()
            if part is None:
                return 0
            self._number, self._rest = part.number, memoryview(bytes(part.content))
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def open_file(file_import: FileImport) -> BinaryIO:
    """Return the stored file as a stream of bytes that needs the memory of one part."""
    return cast(BinaryIO, io.BufferedReader(_Parts(file_import), buffer_size=_BUFFER))
