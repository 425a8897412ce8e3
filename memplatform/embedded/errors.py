"""What can go wrong with the embedded server, one class a cause."""


class EmbeddedError(Exception):
    """The embedded PostgreSQL can't be used; the message says what to do."""


class PathUnusable(EmbeddedError):
    """The data folder is not private to the server, not its own, or has a name it can't take."""


class OwnerUnavailable(EmbeddedError):
    """Started as root, and the unprivileged account that has to own the server can't be had."""


class BinariesMissing(EmbeddedError):
    """The package that carries PostgreSQL's programs is not installed for this platform."""


class CommandFailed(EmbeddedError):
    """One of PostgreSQL's programs ended with an error; the message carries its last lines."""


class NotAnswering(EmbeddedError):
    """A server process runs on the data folder but accepts no connection."""
