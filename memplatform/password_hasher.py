"""The hashing of passwords with bounded memory."""

from threading import BoundedSemaphore
from typing import Any

from django.contrib.auth.hashers import Argon2PasswordHasher

_AT_ONCE = BoundedSemaphore(1)  # of a process


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Argon2id as OWASP recommends it (19 MiB, 2 passes, 1 lane), so that logins can't take all CPU or memory.

    Django's own defaults take 100 MiB and 8 threads for each hash.
    """

    memory_cost = 19 * 1024  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Hash a password."""
        with _AT_ONCE:
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        """Return True if a password has this hash."""
        with _AT_ONCE:
            return bool(super().verify(password, encoded))

    def harden_runtime(self, password: str, encoded: str) -> Any:
        """Do nothing: Argon2 has no cheaper hashes to make up for."""
