"""Errors of the embedded server: one class per cause."""


class EmbeddedError(Exception):
    """The embedded PostgreSQL can't be used; the message says what to do about it."""


class PathUnusable(EmbeddedError):
    """The data folder belongs to something else, is not private, or has an unsupported name."""


class OwnerUnavailable(EmbeddedError):
    """This process runs as root, and the unprivileged account for the server is not available."""


class BinariesMissing(EmbeddedError):
    """The package with PostgreSQL's programs is not installed for this platform."""


class CommandFailed(EmbeddedError):
    """One of PostgreSQL's programs failed; the message contains its last lines of output."""


class NotAnswering(EmbeddedError):
    """A server process runs on the data folder but does not accept connections."""
