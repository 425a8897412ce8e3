"""How each configured model does, with its calls of a day and whether it is paused."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.actions.queue.services import ModelFigures, read_model_figures
from apps.console.selectors.model_pauses import PausedModelBanner

_TONES = {"answers": "good", "no calls": "plain", "last call failed": "wait"}


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """A model with the figures of its calls."""

    figures: ModelFigures
    is_paused: bool

    @property
    def state(self) -> str:
        """Return in a word how it does now."""
        figures = self.figures
        if figures.problem:
            return "not usable"
        if self.is_paused:
            return "does not answer"
        if figures.last_failure and (figures.last_answer is None or figures.last_failure > figures.last_answer):
            return "last call failed"
        return "answers" if figures.last_answer else "no calls"

    @property
    def tone(self) -> str:
        """Return the colour name of the state."""
        return _TONES.get(self.state, "bad")


def model_health(*, project_id: UUID, pauses: Sequence[PausedModelBanner]) -> list[ModelHealth]:
    """Return the models that a project uses, then those that it could use."""
    paused = {banner.pause.model for banner in pauses}
    return [ModelHealth(each, each.name in paused) for each in read_model_figures(project_id=project_id)]
