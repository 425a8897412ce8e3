"""Why something is or is not remembered, and what agents are told: the pages of the place Ask."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.common.errors import ProviderError
from apps.console.choices import DEFAULTS, RecallForm
from apps.console.paging import query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.policy import RankingWeights
from apps.retrieval.context import MAX_HITS
from apps.retrieval.explain import Recall
from apps.retrieval.query import SearchQuery
from apps.retrieval.ranking import PRIORS
from apps.retrieval.selectors import MAX_ROWS, explain_turns, found_memories, left_out, recall_rows
from apps.retrieval.services import explain_recall
from apps.tenants.models import EndUser
from apps.traces.filters import LATEST, split_words
from apps.traces.models import ConfigurationVersion
from apps.traces.selectors import search_similar_turns, search_turns

BUDGET = 800  # tokens
MOST_MISSED = 15
MOST_OFFERED = 50  # users that the form offers


@project_page()
def ask(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Answer for words and a user: what was said, what is stored in which state, and what an agent is told."""
    user, text = query_param(request, "user"), query_param(request, "q")
    shown: dict[str, Any] = {"searched_user": user, "text": text, "most": MAX_ROWS, "latest": LATEST, "budget": BUDGET}
    if text or user:
        asked: dict[str, Any] = {"project_id": visit.project.pk, "user": user, "words": split_words(text)}
        turns = list(search_turns(**asked)[:MAX_ROWS])
        has_all_words = bool(turns)
        if not has_all_words and len(asked["words"]) > 1:
            turns = list(search_similar_turns(**asked)[:MAX_ROWS])
        end_user = EndUser.objects.for_project(visit.project.pk).present().filter(external_id=user).first()
        shown |= {
            "explanations": explain_turns(turns),
            "has_all_words": has_all_words,
            "memories": found_memories(project_id=visit.project.pk, user=user, words=text),
            "end_user": end_user,
        }
        if end_user:
            shown |= told_to_agent(end_user, SearchQuery(text=text, limit=MAX_HITS), token_budget=BUDGET)
    return render(request, "console/ask.html", shown)


def told_to_agent(end_user: EndUser, query: SearchQuery, *, token_budget: int) -> dict[str, Any]:
    """Return as `told` the block that an agent gets for a message, what it leaves out as `missed`; or the `problem`."""
    try:
        found = explain_recall(
            project_id=end_user.project_id, end_user_id=end_user.pk, query=query, token_budget=token_budget
        )
    except ProviderError:
        return {"problem": "The embedder does not answer, so nothing can be ranked. Try again later."}
    missed = left_out(found, found.block) if found.block else []
    return {"told": found.block, "missed": missed[:MOST_MISSED], "missed_count": len(missed)}


@project_page()
def recall(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the form, and with a user what their query finds, also compared with another version."""
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    given = DEFAULTS | {name: value for name, value in request.GET.items() if value}
    form = RecallForm(given if "user" in request.GET else None, project_id=visit.project.pk, versions=versions)
    users = EndUser.objects.for_project(visit.project.pk).present().order_by("-created_at", "id")
    parts = {name: each for name, each in RankingWeights.model_fields.items() if name not in PRIORS}
    shown: dict[str, Any] = {
        "form": form,
        "users": users.values_list("external_id", flat=True)[:MOST_OFFERED],
        "meanings": [(name, each.description) for name, each in parts.items()],
    }
    if form.is_valid():
        try:
            asked = form.cleaned_data
            found = _recall(asked, visit, asked["version"])
            other = _recall(asked, visit, asked["against"]) if asked["against"] else None
            lines, others = (each.block.lines if each and each.block else () for each in (found, other))
            shown |= {
                "recall": found,
                "rows": recall_rows(found, against=other),
                "result_count": sum(each.exclusion is None for each in found.scored),
                "against": asked["against"],
                "budget": asked["budget"],
                "common": others if other else lines,
                "only_against": [line for line in others if line not in lines],
            }
        except ProviderError:
            form.add_error(None, "The embedder does not answer. Try again later.")
    return render(request, "console/recall.html", shown, status=422 if form.errors else 200)


def _recall(given: dict[str, Any], visit: ProjectVisit, version: int | None) -> Recall:
    query = SearchQuery(
        text=given["q"],
        limit=given["limit"],
        stakes=given["stakes"],
        min_score=given["min_score"],
        as_of=given["as_of"],
        told_in=AgentScope(agent_id=given["agent"]),
    )
    return explain_recall(
        project_id=visit.project.pk,
        end_user_id=given["user"].pk,
        query=query,
        token_budget=given["budget"],
        version=version,
    )
