"""Why something is or is not remembered, and what agents are told: the pages of the place Ask."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.common.errors import ProviderError
from apps.console.choices import DEFAULTS, RecallForm
from apps.console.paging import query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.agent_scope import AgentScope
from apps.retrieval.context import MAX_HITS, ContextQuery
from apps.retrieval.query import SearchQuery
from apps.search.selectors import recall as selectors
from apps.search.selectors.asking import MAX_ROWS, found_memories
from apps.search.selectors.explanations import explain_turns, told_block
from apps.search.services import Recall, explain_recall
from apps.tenants.models import EndUser
from apps.traces.filters import LATEST, split_words
from apps.traces.models import ConfigurationVersion
from apps.traces.selectors import search_similar_turns, search_turns

BUDGET = 800  # tokens


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
            shown |= told_to_agent(end_user, ContextQuery(token_budget=BUDGET, text=text))
    return render(request, "console/ask.html", shown)


def told_to_agent(end_user: EndUser, asked: ContextQuery) -> dict[str, Any]:
    """Return the block that an agent gets for a message, line by line, as `told`; or the `problem`."""
    query = SearchQuery(text=asked.text, limit=MAX_HITS, stakes=asked.stakes)
    try:
        found = explain_recall(project_id=end_user.project_id, end_user_id=end_user.pk, query=query, block=asked)
    except ProviderError:
        return {"problem": "The embedder does not answer, so nothing can be ranked. Try again later."}
    return {"told": told_block(found, found.block, end_user_id=end_user.pk) if found.block else None}


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
            asked = form.cleaned_data
            found = _recall(asked, visit, asked["version"])
            other = _recall(asked, visit, asked["against"]) if asked["against"] else None
            block, beside = found.block, other.block if other else None
            shown |= {
                "recall": found,
                "end_user": asked["user"],
                "rows": selectors.recall_rows(found, against=other),
                "result_count": sum(each.place is not None for each in found.search.scored),
                "left_out": selectors.left_out(found),
                "unscored": selectors.unscored_of(found),
                "against": asked["against"],
                "budget": asked["budget"],
                "block_rows": selectors.block_rows(block, against=beside) if block else None,
            }
        except ProviderError:
            form.add_error(None, "The embedder does not answer. Try again later.")
    return render(request, "console/recall.html", shown, status=422 if form.errors else 200)


def _recall(given: dict[str, Any], visit: ProjectVisit, version: int | None) -> Recall:
    text, stakes, least = given["q"], given["stakes"], given["min_score"]
    scope = AgentScope(agent_id=given["agent"])
    query = SearchQuery(
        text=text, limit=given["limit"], stakes=stakes, min_score=least, as_of=given["as_of"], told_in=scope
    )
    block = ContextQuery(token_budget=given["budget"], text=text, stakes=stakes, min_score=least, told_in=scope)
    return explain_recall(
        project_id=visit.project.pk,
        end_user_id=given["user"].pk,
        query=query,
        block=None if given["as_of"] else block,  # blocks tell of the present
        version=version,
    )
