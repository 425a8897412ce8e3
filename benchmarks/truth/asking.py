"""Ask a conversation's questions of the product's search and context block, and judge what it shows."""

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from apps.providers import registry
from apps.providers.wordllama import count_tokens
from apps.retrieval.block import CountTokens
from apps.retrieval.context import build_block
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import Ranking, ranked
from apps.traces.policies import active_policy
from benchmarks.truth.gold import GoldConversation, Question
from benchmarks.truth.judging import NOTHING, Judged, facts_in, over_in
from benchmarks.truth.replay import Replayed

BUDGETS = (400, 1_000)
# How the block marks a line that is not told as certain and current.
_MARKED = re.compile(r"unverified|disputed|uncertain|contradict|no longer|until|formerly", re.IGNORECASE)


@dataclass(slots=True)
class AskedJudgement:
    """How many questions were answered, and which ones were not, with what was shown instead."""

    top1: Judged = NOTHING
    top3: Judged = NOTHING
    context_right: dict[int, Judged] = field(default_factory=lambda: dict.fromkeys(BUDGETS, NOTHING))
    not_found: list[dict[str, object]] = field(default_factory=list)
    misled: list[dict[str, object]] = field(default_factory=list)


def ask(conversation: GoldConversation, replayed: Replayed, *, count: CountTokens = count_tokens) -> AskedJudgement:
    """Ask all questions a day after the last turn."""
    found = AskedJudgement()
    for question in conversation.questions:
        answers = [conversation.facts[each] for each in question.answered_by]
        hits = _hits(question, conversation, replayed)
        right = [any(fact.is_held_by(hit) for fact in answers) for hit in hits]
        found.top1 += Judged(any(right[:1]), 1)
        found.top3 += Judged(any(right), 1)
        if not any(right):
            found.not_found.append({"question": question.ask, "hits": hits})
        for budget in BUDGETS:
            lines = _context_lines(question, conversation, replayed, budget, count)
            wrong = _misleading(lines, question, conversation)
            is_right = not wrong and any(fact.is_held_by(line) for fact in answers for line in lines)
            found.context_right[budget] += Judged(is_right, 1)
            if wrong:
                found.misled.append({"question": question.ask, "tokens": budget, "lines": wrong})
    return found


def _hits(question: Question, conversation: GoldConversation, replayed: Replayed) -> list[str]:
    query = SearchQuery(text=question.ask, limit=3, min_score=0.0)
    with _ranked(query, conversation, replayed) as ranking:
        return [hit.memory.content for hit in ranking.results()]


def _context_lines(
    question: Question, conversation: GoldConversation, replayed: Replayed, budget: int, count: CountTokens
) -> list[str]:
    with _ranked(SearchQuery(text=question.ask), conversation, replayed) as ranking:
        block = build_block(ranking, token_budget=budget, count_tokens=count)
    return [statement for line in block.text.splitlines() for statement in _statements(line)]


def _ranked(query: SearchQuery, conversation: GoldConversation, replayed: Replayed) -> AbstractContextManager[Ranking]:
    return ranked(
        end_user_id=replayed.end_user_id,
        query=query,
        embedder=registry.embedder(),
        policy=active_policy(project_id=replayed.project_id).retrieval,
        now=conversation.asked_at,
    )


def _statements(line: str) -> Iterator[str]:
    """Yield what a line states: one with several values of one name states each of them."""
    name, equals, values = line.partition(" = ")
    if not equals:
        yield line
        return
    for value in values.split("; "):
        yield f"{name} = {value}"


def _misleading(lines: Sequence[str], question: Question, conversation: GoldConversation) -> list[str]:
    """Return the lines that show as current what would mislead."""
    misled = [conversation.facts[each] for each in question.misled_by]
    answers = [conversation.facts[each] for each in question.answered_by]
    return [
        line
        for line in lines
        if not _MARKED.search(line)
        # Beside the answer that replaced it, a misleading fact does no harm.
        and any(fact in over_in([*facts_in(line, answers), fact]) for fact in facts_in(line, misled))
    ]
