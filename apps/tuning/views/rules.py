"""Patterns: pre-filter rules with preview and test."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import django_filters
from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.filters import ProjectFilter, search_filter
from apps.console.forms import ProjectRuleForm, TrialForm
from apps.console.generic import ProjectListView
from apps.console.labels import label
from apps.console.paging import query_param, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import project_action
from apps.memories.models import EvaluationLabel, Memory
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import LIVE_STATUSES, LabelValue, values_of
from apps.pipeline.prefilter.conversation import asks
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, PreFilterRule, RulePreview, Trace, Turn
from apps.tuning.rules import (
    MOST_DAYS,
    check_rule,
    delete_rule,
    fingerprint,
    request_preview,
    save_rule,
    try_turn,
)

DAYS = (1, 7, 30, MOST_DAYS)
_WEEK = 7


def _reasons() -> list[tuple[str, str]]:
    found = PreFilterRule.objects.order_by("reason").values_list("reason", flat=True).distinct()
    return [(reason, label(reason)) for reason in found]


class RuleFilter(ProjectFilter):
    """Rules by words and reason, in order or those with most hits first."""

    q = search_filter("Name or pattern", method="of_words")
    reason = django_filters.ChoiceFilter(
        label="", choices=_reasons, empty_label="all reasons", widget=forms.Select(attrs={"aria-label": "Reason"})
    )
    by = django_filters.ChoiceFilter(
        label="",
        choices=[("hits", "most hits first")],
        empty_label="by order",
        widget=forms.Select(attrs={"aria-label": "Order"}),
        method="by_hits",
    )

    def of_words(self, rows: QuerySet[PreFilterRule], name: str, value: str) -> QuerySet[PreFilterRule]:
        """Keep rules with these characters in the name or in the pattern."""
        return rows.filter(Q(name__icontains=value) | Q(pattern__icontains=value))

    def by_hits(self, rows: QuerySet[PreFilterRule], name: str, value: str) -> QuerySet[PreFilterRule]:
        """Put rules with most hits first."""
        return rows.order_by("-hit_count", "order", "name")


def _list_parameters(request: HttpRequest) -> dict[str, str]:
    """Return the search, filters and page of the list, which it keeps when a rule is switched."""
    return {name: request.GET[name] for name in (*RuleFilter.base_filters, "page") if request.GET.get(name)}


class RuleListView(ProjectListView):
    """List the rules with their hits, and a form to test a turn."""

    template_name = "console/patterns.html"
    model = PreFilterRule
    filterset_class = RuleFilter

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the version of these rules, and suggestions to those who may change rules."""
        shown = super().get_context_data(**context) | {"trial_form": TrialForm()}
        if self.visit.may_administer:
            shown["suggestions"] = rule_suggestions(project_id=self.visit.project.pk)
        versions = ConfigurationVersion.objects.filter(project=self.visit.project, is_active=True).defer("policy")
        query = urlencode(_list_parameters(self.request))
        return shown | {"version": versions.first(), "query": f"?{query}" if query else ""}


@project_page(MemberRole.ADMIN)
def rule(request: HttpRequest, visit: ProjectVisit, name: str = "") -> HttpResponse:
    """Show and save a rule; saving creates a configuration version."""
    rules = PreFilterRule.objects.filter(project=visit.project)
    known = get_object_or_404(rules, name=name) if name else None
    proposed, values = _PROPOSALS.get(query_param(request, "relax") if known else "", ("", {}))
    form = ProjectRuleForm(request.POST or None, instance=known, initial=values)
    context: dict[str, Any] = {"form": form, "rule": known, "days": DAYS, "trial_form": TrialForm()}
    context["proposed"] = proposed
    if form.is_valid() and known is None and rules.filter(name=form.instance.name).exists():
        form.add_error("name", "another rule has this name")
    if form.is_valid():
        try:
            edited, is_draft = form.instance.as_rule(), "draft" in request.POST
            is_seen = request.POST.get("seen", "") == fingerprint(edited)
            # A rule that does harm is confirmed by its name, as it stands.
            is_confirmed = is_seen and request.POST.get("confirmation", "").strip() == edited.name
            found = None if is_draft or is_confirmed else check_rule(project_id=visit.project.pk, rule=edited)
            if found is not None and found.needs_confirmation:
                # Two queries; examples with memories come first.
                dropped = sorted(found.dropped, key=lambda change: not change.active_memories)[:MOST_HARMED]
                shown = _examples([(each.end_user_id, each.turn_id, each.active_memories) for each in dropped])
                context["found"] = {"check": found, "examples": [each for each in shown if each is not None]}
                context["fingerprint"] = fingerprint(edited)
            else:
                version = save_rule(project_id=visit.project.pk, rule=edited, as_draft=is_draft)
                return _saved(request, visit, version, f"Rule {edited.name} saved")
        except Refused as refused:
            form.add_error("pattern", str(refused))
    context["position"] = _position(form)
    return render(request, "console/rule.html", context, status=422 if form.errors else 200)


# What a link to the editor proposes, in words and as values of the form; nothing is saved before somebody does.
_PROPOSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "answers": ("answers to questions are kept", {"unless_answering": True}),
    "off": ("the rule is off; narrow its pattern to keep it on", {"enabled": False}),
}


@project_action(page="patterns")
def switch(request: HttpRequest, visit: ProjectVisit, name: str) -> HttpResponse:
    """Enable or disable a rule."""
    known = get_object_or_404(PreFilterRule, project=visit.project, name=name).as_rule()
    switched = known.model_copy(update={"enabled": not known.enabled})
    if switched.enabled and check_rule(project_id=visit.project.pk, rule=switched).needs_confirmation:
        messages.error(request, f"Nothing was changed: rule {name} would drop what is worth keeping. Save it here.")
        return redirect(visit.address("rule", name))
    done = "switched on" if switched.enabled else "switched off"
    version = save_rule(project_id=visit.project.pk, rule=switched, done=done)
    return _saved(request, visit, version, f"Rule {name} {done}")


@project_action(page="patterns", tells_absence=True)
def delete(request: HttpRequest, visit: ProjectVisit, name: str) -> HttpResponse:
    """Delete a rule; older versions keep it."""
    version = delete_rule(project_id=visit.project.pk, name=name)
    return _saved(request, visit, version, f"Rule {name} deleted")


@require_POST
@project_page()
def trial(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Test what the pre-filter does with a turn; in the editor, with the unsaved rule."""
    form = TrialForm(request.POST)
    edited = _edited(request, visit) if "pattern" in request.POST else None
    if not form.is_valid() or (edited is not None and not edited.is_valid()):
        return render(request, "console/_trial.html", {"problems": [form.errors, edited.errors if edited else {}]})
    given: dict[str, Any] = form.cleaned_data
    try:
        result = try_turn(
            project_id=visit.project.pk,
            content=given["content"],
            role=given["role"],
            before=given["before"],
            rule=edited.instance.as_rule() if edited else None,
        )
    except Refused as refused:
        return render(request, "console/_trial.html", {"problem": str(refused)})
    return render(request, "console/_trial.html", {"result": result})


@require_POST
@project_page(MemberRole.ADMIN)
def preview(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Preview the unsaved rule on the turns of the last days."""
    form = _edited(request, visit)
    if not form.is_valid():
        return render(request, "console/_preview.html", {"form": form, "position": _position(form)})
    days = whole_number(request.POST.get("days", "")) or _WEEK
    try:
        started = request_preview(project_id=visit.project.pk, rule=form.instance.as_rule(), days=days)
    except Refused as refused:
        return render(request, "console/_preview.html", {"problem": str(refused)})
    return render(request, "console/_preview.html", _preview_context(started))


@project_page(MemberRole.ADMIN)
def previewed(request: HttpRequest, visit: ProjectVisit, preview_id: UUID) -> HttpResponse:
    """Show the progress or the result of a preview."""
    found = get_object_or_404(RulePreview, project=visit.project, pk=preview_id)
    return render(request, "console/_preview.html", _preview_context(found))


def _edited(request: HttpRequest, visit: ProjectVisit) -> ProjectRuleForm:
    """Return the form of the rule being edited; `editing` names a saved rule."""
    name = request.POST.get("editing", "")
    known = PreFilterRule.objects.filter(project=visit.project, name=name).first() if name else None
    return ProjectRuleForm(request.POST, instance=known)


def _position(form: ProjectRuleForm) -> dict[str, str] | None:
    """Return the pattern split at the position of its RE2 error; None without an error."""
    pattern = form.data.get("pattern", "") if form.is_bound else ""
    try:
        check_pattern(pattern or "x")
    except PatternRefused as refused:
        if refused.position is not None:
            return {"before": pattern[: refused.position], "after": pattern[refused.position :]}
    return None


def _saved(request: HttpRequest, visit: ProjectVisit, version: ConfigurationVersion, done: str) -> HttpResponse:
    """Redirect to the list with a message and its undo."""
    if version.is_draft:
        messages.success(request, f"{done} in draft {version.number}, which decides nothing until it is activated.")
        return redirect(visit.address("version", version.number))
    undo = visit.address("restore", version.base)
    messages.success(request, f"{done}: version {version.number} is active.", extra_tags=undo)
    return redirect(visit.address("patterns", **_list_parameters(request)))


def _preview_context(preview: RulePreview) -> dict[str, Any]:
    """Return a preview with its examples by kind, harmful ones first (two queries; none while it runs)."""
    if not preview.is_over:
        return {"preview": preview}
    examples: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    told = [(UUID(each["end_user"]), UUID(each["turn"]), map(UUID, each["memories"])) for each in preview.examples]
    for found, each in zip(_examples(told), preview.examples, strict=True):
        if found is not None:
            examples[each["kind"]].append({**found, "before": each["before"]})
    by_kind = {kind: examples[kind] for kind in ("harmful", "dropped", "kept") if examples[kind]}
    return {"preview": preview, "examples": by_kind}


MOST_HARMED = 12  # examples of a check


def _examples(told: Iterable[tuple[UUID, UUID, Iterable[UUID]]]) -> list[dict[str, Any] | None]:
    """Return the turn and the memories of each example, named by end user, turn and memories; None if it is gone."""
    named = [(end_user, turn, list(memories)) for end_user, turn, memories in told]
    users = {end_user for end_user, _, _ in named}
    rows = Turn.objects.select_related("end_user").filter(end_user_id__in=users)
    turns = rows.filter(pk__in=[turn for _, turn, _ in named]).in_bulk()
    ids = [each for _, _, memories in named for each in memories]
    known = Memory.objects.filter(end_user_id__in=users, pk__in=ids).in_bulk()
    return [
        {"turn": turns[turn], "memories": [known[each] for each in memories if each in known]}
        if turn in turns
        else None
        for _, turn, memories in named
    ]


MOST_TRACES = 2_000  # the latest ones
MOST_DROPS = 500
MOST_MEMORIES = 1_000
MOST_LABELS = 100
MOST_EXAMPLES = 4  # of a rule
_LEAST_WORDS = 3  # of a quote that proves something; fewer stand in too many quotes


@dataclass(frozen=True, slots=True)
class WrongDrop:
    """A dropped turn, what proves that it was content, and the memory that says so, if there is one."""

    turn: Turn
    proof: str
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class RuleSuggestion:
    """A rule that should drop less, with its proofs; `only_answers` if all of them answered a question."""

    rule: PreFilterRule
    drops: tuple[WrongDrop, ...]
    count: int
    only_answers: bool

    @property
    def relaxed(self) -> str:
        """Return how the editor proposes to relax the rule."""
        return "answers" if self.only_answers and not self.rule.unless_answering else "off"


def rule_suggestions(*, project_id: UUID) -> list[RuleSuggestion]:
    """Return the enabled rules with wrong drops, those with most first (five queries)."""
    by_rule: defaultdict[str, dict[UUID, WrongDrop]] = defaultdict(dict)
    for drop in _wrong_drops(project_id):
        by_rule[drop.turn.rejected_by].setdefault(drop.turn.pk, drop)
    rules = PreFilterRule.objects.filter(project_id=project_id, enabled=True, name__in=by_rule)
    before = Q(pk__in=[])
    for turn in (drop.turn for of_rule in by_rule.values() for drop in of_rule.values()):
        before |= Q(end_user_id=turn.end_user_id, session_id=turn.session_id, position=turn.position - 1)
    said_before = Turn.objects.filter(before).values_list("session_id", "position", "content")
    asked = {(session, position + 1) for session, position, content in said_before if asks(content.casefold())}
    found = []
    for rule in rules:
        drops = tuple(by_rule[rule.name].values())
        only_answers = all((drop.turn.session_id, drop.turn.position) in asked for drop in drops)
        found.append(RuleSuggestion(rule, drops[:MOST_EXAMPLES], len(drops), only_answers))
    return sorted(found, key=lambda each: (-each.count, each.rule.name))


def _wrong_drops(project_id: UUID) -> Iterator[WrongDrop]:
    """Yield dropped turns that a labeller found something in, then those whose words a later memory quotes."""
    labels = EvaluationLabel.objects.filter(
        item__sample__project_id=project_id, value=LabelValue.SOMETHING, item__turn__isnull=False
    )
    rows = labels.exclude(item__turn__rejected_by="").select_related("item__turn__end_user").order_by("-id")
    for given in rows[:MOST_LABELS]:
        if given.item.turn is not None:
            remembered = "a labeller remembered it" if given.remembered_id else "a labeller found something in it"
            yield WrongDrop(given.item.turn, remembered)
    latest = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id").values("pk")[:MOST_TRACES]
    turns = Turn.objects.filter(trace__in=latest).exclude(rejected_by="").select_related("end_user")
    dropped = list(turns.order_by("-received_at", "-id")[:MOST_DROPS])
    live = Memory.objects.filter(project_id=project_id, status__in=values_of(LIVE_STATUSES)).exclude(evidence="")
    quoting = live.filter(end_user_id__in={turn.end_user_id for turn in dropped}).order_by("-created_at")
    quoting = quoting.only("id", "end_user_id", "content", "evidence", "created_at", "confidence_parts")
    quotes: defaultdict[UUID, list[Memory]] = defaultdict(list)  # by user, the latest first
    for memory in quoting[:MOST_MEMORIES]:
        quotes[memory.end_user_id].append(memory)
    for turn in dropped:
        for memory in quotes.get(turn.end_user_id, ()):
            if memory.created_at > turn.received_at and says_again(turn.content, memory.evidence):
                approved = bool(memory.confidence_parts.get("review"))
                yield WrongDrop(turn, "a reviewer approved it" if approved else "a later memory says it", memory)
                break


def says_again(dropped: str, quote: str) -> bool:
    """Return True if the quote of a later memory has the words of a dropped turn, one after the other."""
    words, quoted = canonical_text(dropped), canonical_text(quote)
    if not words:
        return False
    return words == quoted or (len(words.split()) >= _LEAST_WORDS and f" {words} " in f" {quoted} ")
