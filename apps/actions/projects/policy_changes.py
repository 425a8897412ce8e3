"""The differences between two policies, by setting and by rule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.pipeline.core.policy import Policy


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """A setting that differs; None if it is missing in one of the policies."""

    path: tuple[str, ...]
    before: Any
    after: Any

    @property
    def name(self) -> str:
        """Return the path in a readable form."""
        return ".".join(self.path)


def policy_changes(before: Policy, after: Policy) -> list[PolicyChange]:
    """Return the differences in the order of the settings; rules are matched by name, whatever their position."""
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
