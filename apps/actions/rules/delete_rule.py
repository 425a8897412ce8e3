"""Delete one pre-filter rule in a new configuration version; earlier versions still contain it."""

from uuid import UUID

from apps.actions.errors import NotFound
from apps.actions.rules.save_rule import Rules, change_rules
from apps.traces.models import ConfigurationVersion


def delete_rule(*, project_id: UUID, name: str) -> ConfigurationVersion:
    """Create a new active version without a rule. Raises NotFound."""

    def without(rules: Rules) -> Rules:
        others = tuple(each for each in rules if each.name != name)
        if len(others) == len(rules):
            raise NotFound("there is no such rule")
        return others

    return change_rules(project_id=project_id, change=without, note=f"rule {name} deleted")
