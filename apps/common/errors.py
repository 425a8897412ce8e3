"""Reasons why an action is refused. When one is raised, nothing was written. API and console translate them."""

from apps.pipeline.core.model_calls import FailureKind


class Refused(Exception):
    """The action can't be done as asked."""


class NotFound(Refused):
    """The object does not exist in this project."""


class Conflict(Refused):
    """The object is in another version or state than the action expects; read it again."""


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


class ProviderError(Exception):
    """A model or embedder did not answer; `retry_after_seconds` is the wait that its server asks for."""

    permanent = False

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = FailureKind.UNAVAILABLE,
        retry_after_seconds: float | None = None,
        is_timeout: bool = False,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_seconds = retry_after_seconds
        self.is_timeout = is_timeout
