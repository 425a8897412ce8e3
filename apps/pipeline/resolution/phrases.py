"""Phrases for times: a regular expression, and a function that returns the period meant on a given day."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from apps.pipeline.resolution.periods import Period
from apps.pipeline.resolution.tense import Tense


@dataclass(frozen=True, slots=True)
class Said:
    """The speaker's day, and the tense of the sentence."""

    on: date
    tense: Tense | None = None

    def told(self, *, past: Period, ahead: Period) -> Period | None:
        """Return the reading that fits the tense; without a tense, a reading that is the same for past and future."""
        if past == ahead or self.tense is Tense.PAST:
            return past
        return ahead if self.tense is Tense.FUTURE else None


Read = Callable[[re.Match[str], Said], Period | None]


@dataclass(frozen=True, slots=True)
class Shape:
    """A phrase and its reading; a reading may raise ValueError or OverflowError for a day that doesn't exist."""

    pattern: re.Pattern[str]
    read: Read
