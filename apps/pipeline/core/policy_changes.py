"""Changes: what differs between two policies, setting by setting and rule by rule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.pipeline.core.policy import Policy


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One setting; None stands for what is not there."""

    path: tuple[str, ...]
    before: Any
    after: Any

    @property
    def name(self) -> str:
        """Return the path as people read it."""
        return ".".join(self.path)


def policy_changes(before: Policy, after: Policy) -> list[PolicyChange]:
    """Return what differs, in the order of the settings; a rule is found by its name, wherever it stands."""
    return list(_differences((), _plain(before), _plain(after)))


def _plain(policy: Policy) -> dict[str, Any]:
    values = policy.model_dump(mode="json")
    values["pre_filter"]["rules"] = {rule["name"]: rule for rule in values["pre_filter"]["rules"]}
    return values


def _differences(path: tuple[str, ...], before: Any, after: Any) -> Iterator[PolicyChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in dict.fromkeys((*before, *after)):
            yield from _differences((*path, str(name)), before.get(name), after.get(name))
    elif before != after:
        yield PolicyChange(path, before, after)
