"""Create, change, configure and archive projects, and set their members."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from operator import getitem
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone
from pydantic import ValidationError as NotAPolicy

from apps.common.errors import Conflict, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import current_person
from apps.memories.ledger.record import record
from apps.outbox.model_pauses import end_all_pauses
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.policy import Policy, PreFilterPolicy, Rule
from apps.pipeline.prefilter.default_rules import default_rules
from apps.pipeline.prompts import extract, index_questions, memory_pairs, references, session
from apps.pipeline.prompts.llm_judge import version_of
from apps.providers.entries import problem_with
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule
from apps.traces.policies import active_policy


def prompt_versions() -> dict[str, str]:
    """Return the version of the prompt of each purpose; any change of its static text changes it."""
    return {
        Purpose.EXTRACT.value: extract.VERSION,
        Purpose.EXTRACT_SESSION.value: session.VERSION,
        Purpose.JUDGE_REFERENCES.value: version_of(references.TASK),
        Purpose.JUDGE_PAIRS.value: version_of(memory_pairs.TASK),
        Purpose.INDEX_QUESTIONS.value: index_questions.VERSION,
    }


RESERVED = frozenset({"login", "logout"})  # other pages have these addresses below /console/


def create_project(*, name: str, slug: str, id: UUID | None = None) -> Project:
    """Create a project with the default policy as its first configuration version; `id` is that of one that is moved.

    Raises Unfit for an invalid name or slug, Conflict if the slug or the id is taken.
    """
    if slug in RESERVED:
        raise Unfit(f"slug: {slug!r} is the address of another page", at="/slug")
    project = Project(name=name.strip(), slug=slug, **({"id": id} if id else {}))
    _check_fields(project)
    try:
        with system_scope(SystemWork.PROJECT_CREATION), transaction.atomic():
            project.save(force_insert=True)
            record("project_created", "project", project.id, project_id=project.id)
            policy = Policy(pre_filter=PreFilterPolicy(rules=default_rules()))
            configure(project_id=project.id, policy=policy, note="defaults")
    except IntegrityError as error:
        raise Conflict(f"there is a project {slug!r} already" + (", or one with this id" if id else "")) from error
    return project


def _check_fields(project: Project) -> None:
    """Raise Unfit for an invalid value."""
    try:
        project.clean_fields()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise Unfit(f"{field}: {messages[0]}", at=f"/{field}") from error


LIMITS = ("queue_limit", "requests_per_minute", "max_memories", "max_model_usd_per_day")
CHANGEABLE = ("name", "review_guideline", *LIMITS)


def update_project(*, project_id: UUID, changes: Mapping[str, Any]) -> Project:
    """Set fields of CHANGEABLE; the ledger gets the names of those that changed, and limits with both values.

    Raises Unfit for an invalid value, NotFound.
    """
    with transaction.atomic():
        project = get_or_refuse(Project.objects.select_for_update().filter(pk=project_id), "project")
        changed = {name: getattr(project, name) for name in CHANGEABLE if name in changes}
        changed = {name: value for name, value in changed.items() if value != changes[name]}
        if not changed:
            return project
        for name in changed:
            setattr(project, name, changes[name])
        _check_fields(project)
        project.save(update_fields=list(changed))
        limits = {name: [_number(changed[name]), _number(changes[name])] for name in changed if name in LIMITS}
        details = {"fields": sorted(changed), "limits": limits}
        record("project_changed", "project", project.pk, project_id=project.pk, details=details)
    return project


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def archive_project(*, project_id: UUID) -> Project:
    """Refuse turns and writes from now on and pause the queue; keys and waiting work are kept.

    Raises NotFound, Conflict for a project that is archived already.
    """
    with transaction.atomic():
        project = get_or_refuse(Project.objects.select_for_update().filter(pk=project_id), "project")
        if project.archived_at is not None:
            raise Conflict("the project is archived already")
        project.archived_at = timezone.now()
        project.save(update_fields=["archived_at"])
        record("project_archived", "project", project.pk, project_id=project.pk)
    return project


def restore_project(*, project_id: UUID) -> Project:
    """Take turns and writes again, and continue the queue.

    Pauses of models end: else work that has waited in the archive would be given up untried. Raises NotFound, Conflict
    for a project that is not archived.
    """
    with transaction.atomic():
        project = get_or_refuse(Project.objects.select_for_update().filter(pk=project_id), "project")
        if project.archived_at is None:
            raise Conflict("the project is not archived")
        project.archived_at = None
        project.save(update_fields=["archived_at"])
        end_all_pauses(project_id=project.pk)
        record("project_restored", "project", project.pk, project_id=project.pk)
    return project


def set_member(*, project_id: UUID, username: str, role: MemberRole) -> Membership:
    """Add a person to the members, or change a member's role.

    Raises Unfit for an unknown user name, Conflict for taking the role from the last admin, NotFound.
    """
    person = get_user_model().objects.filter(username=username.strip(), is_active=True).first()
    if person is None:
        raise Unfit("there is no active user of this name", at="/username")
    with transaction.atomic():
        get_or_refuse(Project.objects.select_for_update().filter(pk=project_id), "project")
        if role is not MemberRole.ADMIN:
            keep_an_admin(project_id=project_id, without=person.pk)
        member, _ = Membership.objects.update_or_create(
            project_id=project_id, user=person, defaults={"role": role.value}
        )
        details = {"person": person.pk, "role": role.value}
        record("member_set", "member", member.pk, project_id=project_id, details=details)
    return member


def keep_an_admin(*, project_id: UUID, without: int) -> None:
    """Raise Conflict if a person is the only admin of a project."""
    admins = list(
        Membership.objects.filter(project_id=project_id, role=MemberRole.ADMIN).values_list("user_id", flat=True)[:2]
    )
    if admins == [without]:
        raise Conflict("a project keeps at least one admin")


def remove_member(*, project_id: UUID, membership_id: UUID) -> Membership:
    """Delete a membership, and return it as it was.

    Raises NotFound, Conflict for the last admin.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        member = get_or_refuse(Membership.objects.filter(project_id=project_id, pk=membership_id), "member")
        keep_an_admin(project_id=project_id, without=member.user_id)
        Membership.objects.filter(pk=member.pk).delete()
        details = {"person": member.user_id, "role": member.role}
        record("member_removed", "member", member.pk, project_id=project_id, details=details)
    return member


MOST_PATHS = 100  # changed settings that one ledger entry names
MOST_NOTE = 255


def configure(*, project_id: UUID, policy: Policy, note: str = "") -> ConfigurationVersion:
    """Make a policy the active version of a project; earlier versions stay, unchanged."""
    with transaction.atomic():
        Project.objects.select_for_update().get(id=project_id)
        versions = ConfigurationVersion.objects.filter(project_id=project_id)
        before = versions.filter(is_active=True).first()
        versions.filter(is_active=True).update(is_active=False)
        update_rules(project_id=project_id, policy=policy)
        made = add_version(
            project_id=project_id, policy=policy, note=note, base=before.number if before else None, activates=True
        )
        record_version(made, before=before)
    return made


def add_version(
    *, project_id: UUID, policy: Policy, note: str, base: int | None, activates: bool = False
) -> ConfigurationVersion:
    """Add a version by whoever acts, a draft unless it `activates`; the caller has locked the project."""
    last = ConfigurationVersion.objects.filter(project_id=project_id).aggregate(last=Max("number"))["last"] or 0
    return ConfigurationVersion.objects.create(
        project_id=project_id,
        number=last + 1,
        policy=policy.model_dump(mode="json"),
        note=note[:MOST_NOTE],
        author_id=current_person(),
        base=base,
        # what decides beside a policy, as the server has it now
        made_with={"model": settings.MODEL, "embedder": settings.EMBEDDER, "prompts": prompt_versions()},
        is_active=activates,
        activated_at=timezone.now() if activates else None,
    )


def record_version(made: ConfigurationVersion, *, before: ConfigurationVersion | None) -> None:
    """Write the paths of the settings that an activation changes into the ledger; rules are settings, too."""
    changes = policy_changes(before.as_policy() if before else Policy(), made.as_policy())
    details = {"number": made.number, "changed": [each.name for each in changes][:MOST_PATHS]}
    record("configured", "configuration", made.id, project_id=made.project_id, details=details)


def update_rules(*, project_id: UUID, policy: Policy) -> None:
    """Update the rows of the editable rules from the active policy; hit counts stay."""
    rules = policy.pre_filter.rules
    PreFilterRule.objects.filter(project_id=project_id).exclude(name__in=[rule.name for rule in rules]).delete()
    PreFilterRule.objects.bulk_create(
        (PreFilterRule(project_id=project_id, **rule.model_dump(mode="json")) for rule in rules),
        update_conflicts=True,
        unique_fields=("project", "name"),
        update_fields=[name for name in Rule.model_fields if name != "name"],
    )


def change_policy(
    *, project_id: UUID, base: int, changes: Mapping[tuple[str, ...], Any], note: str = ""
) -> ConfigurationVersion:
    """Set values by their path in a new active version; `base` is the number of the version that the caller has seen.

    Raises Unfit for an invalid value, Conflict if another version is active by now, NotFound.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        active = get_or_refuse(
            ConfigurationVersion.objects.filter(project_id=project_id, is_active=True),
            "project, or it has no configuration",
        )
        if active.number != base:
            raise Conflict(f"version {active.number} is active by now; read it and try again")
        policy = changed_policy(active.as_policy(), changes)
        if policy == active.as_policy():
            return active
        changed = ", ".join(".".join(path) for path in changes)
        return configure(project_id=project_id, policy=policy, note=(note or f"{changed} changed")[:255])


def changed_policy(policy: Policy, changes: Mapping[tuple[str, ...], Any]) -> Policy:
    """Return the policy with values set by their path.

    Raises Unfit for values that a policy does not allow, and for another model that can't be called.
    """
    values = policy.model_dump(mode="json")
    for (*parents, name), value in changes.items():
        section = values
        for parent in parents:
            section = section.setdefault(parent, {})
            if not isinstance(section, dict):
                raise Unfit("is no section of settings", at="/" + "/".join((*parents, name)))
        section[name] = value
    try:
        changed = Policy.model_validate(values)
    except NotAPolicy as error:
        first = error.errors()[0]
        raise Unfit(str(first["msg"]), at="/" + "/".join(map(str, first["loc"]))) from error
    model = changed.extraction.model
    if model not in ("", policy.extraction.model) and (problem := problem_with(model)):
        raise Unfit(problem, at="/extraction/model")
    return changed


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


def policy_of_version(*, project_id: UUID, number: int | None) -> Policy:
    """Return the policy of a version; None stands for the active one. Raises NotFound."""
    if number is None:
        return active_policy(project_id=project_id)
    version = get_or_refuse(ConfigurationVersion.objects.filter(project_id=project_id, number=number), "version")
    return version.as_policy()


def save_draft(
    *, project_id: UUID, base: int, changes: Mapping[tuple[str, ...], Any], note: str = ""
) -> ConfigurationVersion:
    """Set values by their path in a new draft that is made from version `base`, which may be a draft, too.

    Without a difference the base is returned. Raises Unfit for an invalid value or model, NotFound.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        made_from = get_or_refuse(ConfigurationVersion.objects.filter(project_id=project_id, number=base), "version")
        before = made_from.as_policy()
        policy = changed_policy(before, changes)
        if policy == before:
            return made_from
        changed = ", ".join(".".join(path) for path in changes)
        return add_version(project_id=project_id, policy=policy, note=note or f"{changed} changed", base=base)


def activate_version(*, project_id: UUID, number: int, seen: int) -> ConfigurationVersion:
    """Make a draft the active version; `seen` is the number of the active version that the caller has compared.

    Raises NotFound, Conflict if another version is active by now, or if the version was active before: such a one is
    restored as a new version.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        versions = ConfigurationVersion.objects.filter(project_id=project_id)
        draft = get_or_refuse(versions.filter(number=number), "version")
        if not draft.is_draft:
            raise Conflict("only drafts are activated; restore this version")
        active = versions.filter(is_active=True).first()
        if active is not None and active.number != seen:
            raise Conflict(f"version {active.number} is active by now; compare it and try again")
        versions.filter(is_active=True).update(is_active=False)
        draft.is_active, draft.activated_at = True, timezone.now()
        draft.save(update_fields=["is_active", "activated_at"])
        update_rules(project_id=project_id, policy=draft.as_policy())
        record_version(draft, before=active)
    return draft


def restore_version(*, project_id: UUID, number: int) -> ConfigurationVersion:
    """Make the policy of an earlier version active, as a new version, so that the history stays complete.

    Raises NotFound, Conflict for the active version.
    """
    with transaction.atomic():
        version = get_or_refuse(ConfigurationVersion.objects.filter(project_id=project_id, number=number), "version")
        if version.is_active:
            raise Conflict("this version is the active one")
        return configure(project_id=project_id, policy=version.as_policy(), note=f"back to version {number}")


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
        defaults: Any = Policy().model_dump(mode="json")
        return {path: reduce(getitem, path, defaults) for path in _VALUES}
    return {path: values[preset is Preset.EAGER] for path, values in _VALUES.items()}
