"""Presets: how careful or eager a project is, as values of the settings that decide how much is stored and shown.

A preset changes these settings alone; rules, models, redaction and everything else stay as they are. "balanced" is the
default of each, so that the three differ in one direction: careful stores and shows less, eager more.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from apps.pipeline.core.policy import Policy

Path = tuple[str, ...]


class Preset(StrEnum):
    """How much is stored without a person having looked."""

    CAREFUL = "careful"
    BALANCED = "balanced"
    EAGER = "eager"


_VALUES: Mapping[Path, tuple[Any, Any]] = {  # careful, eager
    ("extraction", "min_confidence"): (0.40, 0.15),
    ("extraction", "max_per_turn"): (3, 10),
    ("resolution", "fuzzy_accept"): (96.0, 88.0),
    ("conflict", "confidence_slack"): (0.05, 0.25),
    ("confidence", "review_below"): (0.65, 0.35),
    ("retrieval", "least_confidence", "high"): (0.80, 0.60),
    ("retrieval", "least_confidence", "normal"): (0.50, 0.30),
    ("retrieval", "least_confidence", "low"): (0.35, 0.15),
}


def preset_values(preset: Preset) -> dict[Path, Any]:
    """Return the values of a preset by the paths of their settings."""
    if preset is Preset.BALANCED:
        defaults = Policy().model_dump(mode="json")
        return {path: _at(defaults, path) for path in _VALUES}
    return {path: values[preset is Preset.EAGER] for path, values in _VALUES.items()}


def _at(values: Mapping[str, Any], path: Path) -> Any:
    found: Any = values
    for name in path:
        found = found[name]
    return found
