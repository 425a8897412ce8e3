"""The time and the identifiers of a replay: those of the traces, the same in every run."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

_RANDOM_BITS = 62


@dataclass(slots=True)
class FrozenClock:
    """The time at which the replayed trace ran."""

    moment: datetime

    def now(self) -> datetime:
        """Return it."""
        return self.moment


@dataclass(slots=True)
class FrozenIds:
    """Identifiers (UUIDv7) that follow from a seed and the clock, in the order in which they are made."""

    clock: FrozenClock
    seed: UUID
    _made: int = field(default=0)

    def new(self) -> UUID:
        """Return the next identifier."""
        self._made += 1
        milliseconds = int(self.clock.now().timestamp() * 1_000)
        digest = hashlib.blake2b(self.seed.bytes + self._made.to_bytes(8, "big"), digest_size=8).digest()
        random = int.from_bytes(digest, "big") >> (64 - _RANDOM_BITS)
        return UUID(int=milliseconds << 80 | 0x7 << 76 | (self._made & 0xFFF) << 64 | 0b10 << 62 | random)
