"""Two or more versions on the same labelled items, as a page shows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.actions.evaluation.share import Share
from apps.actions.evaluation.versions import MOST_VERSIONS, JudgedCase, score_replay
from apps.console.labels import percent
from apps.traces.models import ConfigurationVersion, Replay


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One case with a cell for each version."""

    label: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ShownComparison:
    """The replays of the compared versions, and their scores side by side."""

    replays: tuple[Replay, ...]
    rows: tuple[ScoreRow, ...]

    @property
    def is_over(self) -> bool:
        """Return True if no replay goes on by itself."""
        return all(replay.is_over for replay in self.replays)


@dataclass(frozen=True, slots=True)
class VersionChoice:
    """A choice among the versions, with the number that is selected at first."""

    label: str
    selected: int | None


def version_choices(versions: Iterable[ConfigurationVersion]) -> tuple[VersionChoice, VersionChoice]:
    """Return the two choices of a comparison: the latest version, and the one before it."""
    numbers = [version.number for version in versions]
    latest = numbers[0] if numbers else None
    return VersionChoice("Version", latest), VersionChoice("with", numbers[1] if len(numbers) > 1 else latest)


def load_comparison(*, project_id: UUID, replay_ids: Sequence[UUID]) -> ShownComparison:
    """Load replays in the order named, and score them."""
    found = Replay.objects.filter(project_id=project_id, id__in=replay_ids[:MOST_VERSIONS]).in_bulk()
    replays = [found[each] for each in dict.fromkeys(replay_ids) if each in found]
    scores = [score_replay(replay=replay) for replay in replays]
    rows = [
        ScoreRow(case.value.capitalize(), tuple(_cell(score.shares[case]) for score in scores)) for case in JudgedCase
    ]
    left_out = ScoreRow("Items not replayed", tuple(str(score.not_replayed) for score in scores))
    return ShownComparison(tuple(replays), (*rows, left_out))


def _cell(share: Share) -> str:
    return f"{share.part:.0f} of {share.whole:.0f} ({percent(share.value)})" if share.whole else "–"
