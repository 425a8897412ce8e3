"""Ask: one page tells for some words what is stored in which state, who decided, and what an agent is told."""

from urllib.parse import urlencode

from django.test import Client

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.models import Project
from apps.traces.models import Trace, Turn
from tests.console.members import HOME, text_of


def ask(browser: Client, **query: str) -> str:
    return text_of(browser, f"ask/?{urlencode(query)}")


def test_memories_in_every_state_are_found_by_words_in_any_order(viewer: Client, full_project: Project) -> None:
    for status in Status:
        Memory.objects.filter(content__icontains="lisbon").update(status=status)
        memories = Memory.objects.filter(content__icontains="lisbon")
        page = ask(viewer, q="lisbon live")
        assert all(f"/memories/{memory.pk}/" in page for memory in memories), status


def test_a_superseded_memory_names_its_successor_and_who_changed_it(viewer: Client, full_project: Project) -> None:
    old = Memory.objects.get(status=Status.SUPERSEDED, content__icontains="lisbon")
    page = ask(viewer, q="lisbon live")
    assert "Replaced by" in page
    assert f"/memories/{old.superseded_by_id}/" in page
    assert " by trace, " in page


def test_a_question_in_other_words_finds_messages_with_most_of_them(viewer: Client, full_project: Project) -> None:
    trace = Trace.objects.filter(turns__isnull=False).latest("created_at")
    turns = list(Turn.objects.filter(end_user=trace.end_user).order_by("received_at")[:3])
    said = ["I drink coffee every morning", "I run every morning", "I drink tea at noon"]
    for turn, content in zip(turns, said, strict=True):
        Turn.objects.filter(pk=turn.pk).update(content=content)
    page = ask(viewer, q="Carla drinks coffee every morning.")
    assert "No message has all of these words" in page
    shown = [content for content in said if content in page]
    assert shown == said[:2]
    assert page.index(said[0]) < page.index(said[1])
    assert "No message has all" not in ask(viewer, q="coffee every morning")
    nothing = ask(viewer, q="zebra unicorn")
    assert ("No matching message" in nothing, "No message has all" in nothing) == (True, False)


def test_with_a_user_it_shows_what_the_agent_is_told(viewer: Client, full_project: Project) -> None:
    told = Memory.objects.filter(status=Status.ACTIVE).select_related("end_user").latest("said_at")
    page = ask(viewer, user=told.end_user.external_id)
    assert "The block as the agent reads it" in page
    assert "Name the user to see what an agent is told" not in page
    assert "Name the user to see what an agent is told" in ask(viewer, q="lisbon")
    assert "There is no user nobody." in ask(viewer, q="lisbon", user="nobody")


def test_the_former_address_opens_the_page(viewer: Client, full_project: Project) -> None:
    assert viewer.get(f"{HOME}why-not/?q=lisbon").status_code == 200
