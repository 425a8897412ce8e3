"""The rules that a new project starts with, read from default_rules.toml beside this file."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from apps.pipeline.core.policy import Rule

_FILE = Path(__file__).with_name("default_rules.toml")
_STEP = 10  # step between the orders of two rules, so that a person can insert one between them


@lru_cache(maxsize=1)
def default_rules() -> tuple[Rule, ...]:
    """Return the default rules in their order."""
    entries: list[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["rules"]
    for place, entry in enumerate(entries, start=1):
        entry["order"] = _STEP * place
        phrases = entry.pop("phrases", None)
        if phrases is not None:  # the alternatives of a phrase rule; `pattern` is used unchanged
            entry |= {"pattern": "|".join(phrases), "phrase": True}
    return tuple(map(Rule.model_validate, entries))
