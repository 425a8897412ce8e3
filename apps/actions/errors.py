"""Why an action was refused. Nothing was written when one of these is raised; doors translate them."""

from apps.providers.errors import ProviderError as ProviderError  # doors know providers by their errors alone


class Refused(Exception):
    """The action can't be done as asked."""


class NotFound(Refused):
    """There is no such thing in this project."""


class Conflict(Refused):
    """The thing has changed since it was read; read it again."""


class NotAllowed(Refused):
    """The caller may not do this."""


class Unfit(Refused):
    """The values don't fit together; `at` is the JSON pointer to the one to change."""

    def __init__(self, message: str, *, at: str = "") -> None:
        super().__init__(message)
        self.at = at
