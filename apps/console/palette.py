"""What the palette finds for a typed text: pages, settings, rules, users, memories, traces and entities."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Exists, OuterRef, Subquery
from django.db.models.functions import Left
from django.urls import reverse

from apps.console.labels import label
from apps.console.navigation import navigation
from apps.console.permissions import ProjectVisit
from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.pipeline.core.policy import Policy
from apps.tenants.enums import MemberRole
from apps.tenants.models import EndUser
from apps.traces.filters import split_words, with_words
from apps.traces.models import PreFilterRule, Trace, Turn
from apps.tuning.forms import SettingsForm

MOST = 5  # of each kind
MOST_PAGES = 40
LEAST_CHARACTERS = 2  # from which more than pages and settings is searched
LATEST_MEMORIES, LATEST_TRACES = 5_000, 2_000  # of each status; whose texts are read at each key
_EXCERPT = 120  # characters

# Pages that are not in the navigation: label, name of the URL, role.
_FURTHER = (
    ("What if: try one message", "what-if", MemberRole.VIEWER),
    ("New replay", "new-replay", MemberRole.ADMIN),
    ("New import", "new-import", MemberRole.ADMIN),
    ("New rule", "new-rule", MemberRole.ADMIN),
    ("Recipients of alerts", "alert-recipients", MemberRole.ADMIN),
)


@dataclass(frozen=True, slots=True)
class Destination:
    """Something to go to; `note` tells it apart from others of the same name."""

    name: str
    address: str
    note: str = ""


def destinations(*, visit: ProjectVisit, text: str) -> list[tuple[str, list[Destination]]]:
    """Return what the visitor may open and the text names, with at most six queries, kinds without any left out."""
    found: list[tuple[str, Iterable[Destination]]] = [("Pages", _pages(visit, text))]
    if len(text) >= LEAST_CHARACTERS:
        named = _identified(visit, text)
        if named is not None:
            return [("By identifier", named)] if named else []
        users = EndUser.objects.for_project(visit.project.pk).present().filter(external_id__icontains=text)
        users = users.order_by("external_id")[:MOST]
        entities = Entity.objects.standing().filter(project=visit.project).called(text).select_related("end_user")
        entities = entities.order_by("-mention_count", "id")[:MOST]
        of_entities = []
        for each in entities:
            note = f"{label(each.type)} of {each.end_user.external_id}"
            of_entities.append(Destination(each.name, visit.address("entity", each.pk), note))
        rules = PreFilterRule.objects.filter(project=visit.project, name__icontains="_".join(text.split()))
        of_rules = []
        for rule in rules.order_by("order", "name").only("name", "reason")[:MOST]:
            listed = visit.address("patterns", q=rule.name)
            address = visit.address("rule", rule.name) if visit.is_admin else listed
            of_rules.append(Destination(rule.name, address, label(rule.reason)))
        found += [
            ("Users", [Destination(each.external_id, visit.address("user", each.pk)) for each in users]),
            ("Memories", _memories(visit, text)),
            ("Entities", of_entities),
            ("Traces", _traces(visit, text)),
            ("Rules", of_rules),
            ("Settings", _settings(visit, text)),
        ]
    return [(name, entries) for name, each in found if (entries := list(each))]


def search_of_all(*, visit: ProjectVisit, text: str) -> Destination | None:
    """Return the list of all memories with the words; the palette itself reads the latest ones, at each key."""
    if len(text) < LEAST_CHARACTERS or any(text.startswith(f"{prefix}_") for prefix in _IDENTIFIED):
        return None
    address = visit.address("memories", q=text)
    return Destination(f"Search all memories for “{text}”", address, f"here: the latest {LATEST_MEMORIES:,}")


def _pages(visit: ProjectVisit, text: str) -> Iterator[Destination]:
    places = navigation(visit=visit, path="", query={}, counts={})
    pages = [(page["label"], page["address"], place["label"]) for place in places for page in place["pages"]]
    pages += [(name, visit.address(view), "") for name, view, role in _FURTHER if visit.may(role)]
    pages += [("Account", reverse("mfa_index"), ""), ("All projects", reverse("console:projects"), "")]
    folded = text.casefold()
    # Pages whose name begins with the text come first.
    fitting = [page for page in pages if folded in page[0].casefold()]
    fitting.sort(key=lambda page: not page[0].casefold().startswith(folded))
    return (Destination(*page) for page in fitting[: MOST if text else MOST_PAGES])


_IDENTIFIED = {
    Prefix.MEMORY: (Memory, "memory"),
    Prefix.TRACE: (Trace, "trace"),
    Prefix.END_USER: (EndUser, "user"),
    Prefix.ENTITY: (Entity, "entity"),
}


def _identified(visit: ProjectVisit, text: str) -> list[Destination] | None:
    """Return what an identifier such as mem_0192… names; None for a text that is none."""
    for prefix, (model, view) in _IDENTIFIED.items():
        try:
            wanted: UUID | None = parse(prefix, text) if text.startswith(f"{prefix}_") else None
        except BadIdentifier:
            return None
        if wanted:
            rows = model._default_manager.filter(project=visit.project, pk=wanted)
            return [Destination(text, visit.address(view, wanted), view)] if rows.exists() else []
    return None


def _memories(visit: ProjectVisit, text: str) -> Iterator[Destination]:
    of_status = [
        Memory.objects.filter(project=visit.project, status=status).order_by("-created_at").values("pk")
        for status in (Status.ACTIVE, Status.PENDING_REVIEW)
    ]
    latest = of_status[0][:LATEST_MEMORIES].union(of_status[1][:LATEST_MEMORIES])
    rows = with_words(Memory.objects.filter(project=visit.project, pk__in=latest), split_words(text))
    shown = rows.select_related("end_user").only("content", "status", "end_user__external_id")
    for memory in shown.order_by("-created_at")[:MOST]:
        who = memory.end_user.external_id
        note = who if memory.status == Status.ACTIVE else f"{who}, {label(memory.status)}"
        yield Destination(memory.content[:_EXCERPT], visit.address("memory", memory.pk), note)


def _traces(visit: ProjectVisit, text: str) -> Iterator[Destination]:
    latest = Trace.objects.filter(project=visit.project).order_by("-created_at").values("pk")[:LATEST_TRACES]
    of_trace = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
    said = with_words(of_trace, split_words(text))
    rows = Trace.objects.filter(Exists(said), project=visit.project, pk__in=latest).select_related("end_user")
    beginning = said.order_by("position").values(beginning=Left("content", _EXCERPT))[:1]
    for trace in rows.annotate(said=Subquery(beginning)).order_by("-created_at")[:MOST]:
        yield Destination(trace.said, visit.address("trace", trace.pk), trace.end_user.external_id)


def _settings(visit: ProjectVisit, text: str) -> Iterator[Destination]:
    folded = text.casefold()
    found = (
        Destination(
            str(setting.field.label),
            f"{visit.address('configuration')}?section={section.name}#{setting.field.name}",
            section.name,
        )
        for section in SettingsForm(Policy()).sections()
        for setting in section.settings
        if folded in f"{section.name} {setting.field.label}, {setting.field.name}".casefold().replace("_", " ")
    )
    return (each for each, _ in zip(found, range(MOST), strict=False))
