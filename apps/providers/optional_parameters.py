"""Parameters that some models refuse: each is left out once a server has refused it."""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

Answer = TypeVar("Answer")


class OptionalParameter(StrEnum):
    """A parameter that a request can omit."""

    SCHEMA = "schema"  # structured output; the prompt describes the answer as well
    TEMPERATURE = "temperature"


# Words in refusals by parameter. A server that names no parameter most likely means the temperature: reasoning models
# accept none.
_WORDS = {
    OptionalParameter.SCHEMA: ("response_format", "output_config", "output_format", "schema", "structured"),
    OptionalParameter.TEMPERATURE: ("temperature", "unsupported parameter", "unsupported_parameter"),
}


class OptionalParameters:
    """The optional parameters that a model accepts, as its server's answers show; shared by threads."""

    def __init__(self) -> None:
        self._accepted = frozenset(OptionalParameter)

    def ask(
        self, send: Callable[[frozenset[OptionalParameter]], Answer], *, refusals: tuple[type[Exception], ...]
    ) -> Answer:
        """Call `send` with the parameters that may be sent, and again without each one that the server refuses.

        What was refused is left out of later requests once a request without it succeeds. Raises what `send` raises.
        """
        accepted = self._accepted
        while True:
            try:
                answer = send(accepted)
            except refusals as error:
                said = str(error).lower()
                named = (each for each in OptionalParameter if any(word in said for word in _WORDS[each]))
                refused = next((each for each in named if each in accepted), None)
                if refused is None:
                    raise
                accepted -= {refused}
            else:
                self._accepted &= accepted
                return answer
