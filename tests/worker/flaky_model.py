"""A model that fails when it is told to."""

from collections.abc import Callable
from dataclasses import dataclass, field

from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest
from apps.pipeline.core.ports import Ports
from apps.worker.process_user import process_user
from tests.outbox.outbox_factories import claim
from tests.pipeline.answers import listing

MODEL = "openai:tested"
GREETING, FACT = "I like it, it was fine thanks.", "I live in Lisbon."


@dataclass
class FlakyModel:
    """A model that is down until it is up."""

    failure: Callable[[], ModelFailed] | None = lambda: ModelFailed("connection refused")
    asked: list[str] = field(default_factory=list)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        self.asked.append(request.turns)
        if self.failure:
            raise self.failure()
        return ModelAnswer(text=listing(), model="tested")


def work(ports: Ports) -> int:
    """Process all work that can be claimed now."""
    done = 0
    while claimed := claim():
        done += sum(process_user(lease=lease, ports=ports) for lease in claimed)
    return done
