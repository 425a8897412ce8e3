"""Reasons why an action is refused. When one is raised, nothing was written. API and console translate them."""

# Exported so that API and console can handle it without importing apps.providers.
from apps.providers.errors import ProviderError as ProviderError


class Refused(Exception):
    """The action can't be done as asked."""


class NotFound(Refused):
    """The object does not exist in this project."""


class Conflict(Refused):
    """The object has changed since it was read; read it again."""


class NotAllowed(Refused):
    """The caller may not do this."""


class ProjectArchived(Refused):
    """The project is archived: it can be read, and takes no turns or writes."""

    def __init__(self) -> None:
        super().__init__("the project is archived: it can be read, and takes nothing until an admin restores it")


class Unfit(Refused):
    """A value is invalid or does not fit the others; `at` is the JSON pointer to it."""

    def __init__(self, message: str, *, at: str = "") -> None:
        super().__init__(message)
        self.at = at
