"""Linear models over the features of a sentence; `manage.py train_gate` writes their weights."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class LinearModel:
    """A bias and a weight for each known feature."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: frozenset[str]) -> float:
        """Return the probability that a sentence with these features is of the kind that the model looks for."""
        told = math.fsum(self.weights[each] for each in features & self.weights.keys())  # in any order
        return 1 / (1 + math.exp(-self.bias - told * scale_of(features)))


def scale_of(features: frozenset[str]) -> float:
    """Return the factor that makes long and short sentences comparable."""
    return 1 / math.sqrt(len(features) or 1)


def to_json(models: Mapping[str, LinearModel]) -> str:
    """Return models as text with one weight a line, in a fixed order."""
    told: Mapping[str, Any] = {name: asdict(model) for name, model in models.items()}
    return json.dumps(told, ensure_ascii=False, indent=0, sort_keys=True) + "\n"


@cache
def read_models(file: Path) -> dict[str, LinearModel]:
    """Read the models of a file, once per process."""
    return {name: LinearModel(**model) for name, model in json.loads(file.read_text(encoding="utf-8")).items()}
