"""Recall: what a search considers for a query, in which order and why, and what the context block takes."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.actions.errors import ProviderError
from apps.actions.memories.explain_recall import RecallRequest, explain_recall
from apps.console.permissions import ProjectVisit, project_page
from apps.console.recall_forms import DEFAULTS, RecallForm
from apps.console.selectors import recall as selectors
from apps.pipeline.core.agent_scope import AgentScope
from apps.retrieval.context import ContextQuery
from apps.retrieval.query import SearchQuery
from apps.traces.models import ConfigurationVersion


@project_page()
def recall(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the form, and with a user what their query finds, also compared with another version."""
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    given = DEFAULTS | {name: value for name, value in request.GET.items() if value}
    form = RecallForm(given if "user" in request.GET else None, project_id=visit.project.pk, versions=versions)
    shown: dict[str, Any] = {
        "form": form,
        "users": selectors.offered_users(project_id=visit.project.pk),
        "meanings": selectors.meanings_of_parts(),
    }
    if form.is_valid():
        try:
            shown |= _explained(form.cleaned_data, visit)
        except ProviderError:
            form.add_error(None, "The embedder does not answer. Try again later.")
    return render(request, "console/recall.html", shown, status=422 if form.errors else 200)


def _explained(given: dict[str, Any], visit: ProjectVisit) -> dict[str, Any]:
    found = explain_recall(request=_request(given, visit, given["version"]))
    other = explain_recall(request=_request(given, visit, given["against"])) if given["against"] else None
    block_rows = None
    if found.block is not None:
        block_rows = selectors.block_rows(found.block, against=other.block if other else None)
    return {
        "recall": found,
        "end_user": given["user"],
        "rows": selectors.recall_rows(found, against=other),
        "result_count": sum(each.place is not None for each in found.search.scored),
        "left_out": selectors.left_out(found),
        "unscored": selectors.unscored_of(found),
        "against": given["against"],
        "budget": given["budget"],
        "block_rows": block_rows,
    }


def _request(given: dict[str, Any], visit: ProjectVisit, version: int | None) -> RecallRequest:
    text, stakes, least = given["q"], given["stakes"], given["min_score"]
    scope = AgentScope(agent_id=given["agent"])
    query = SearchQuery(
        text=text, limit=given["limit"], stakes=stakes, min_score=least, as_of=given["as_of"], told_in=scope
    )
    block = ContextQuery(
        token_budget=given["budget"],
        text=text,
        stakes=stakes,
        min_score=least,
        told_in=scope,
    )
    return RecallRequest(
        project_id=visit.project.pk,
        end_user_id=given["user"].pk,
        query=query,
        block=None if given["as_of"] else block,  # blocks tell of the present
        version=version,
    )
