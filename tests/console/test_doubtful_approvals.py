"""What the user did not say as a fact: rejected first, kept as uncertain, or approved once a person confirms it."""

import pytest
from django.test import Client

from apps.memories.models import Memory
from apps.pipeline.core.enums import SourceConfidence, SpeechAct, Stakes, Status
from apps.tenants.models import Project
from apps.traces.policies import active_policy
from tests.console.members import seen
from tests.console.pending import pending

pytestmark = pytest.mark.django_db
HOME = "/console/test/"
DOUBTS = [
    {"speech_act": SpeechAct.ROLEPLAY},
    {"speech_act": SpeechAct.HYPOTHETICAL},
    {"speech_act": SpeechAct.SARCASM},
    {"source_confidence": SourceConfidence.SPECULATED},
]


def doubtful(project: Project, content: str = "Rui is a captain", **doubt: str) -> Memory:
    memory = pending(project, content)
    Memory.objects.filter(pk=memory.pk).update(**(doubt or DOUBTS[0]))
    return Memory.objects.get(pk=memory.pk)


def decide(rita: Client, memory: Memory, **more: str) -> int:
    return rita.post(f"{HOME}review/approve/", {"memory": seen(memory), **more}).status_code


def least(project: Project, stakes: Stakes) -> float:
    return active_policy(project_id=project.pk).retrieval.least_confidence[stakes]


@pytest.mark.promise("review")
@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_single_key_approves_no_joke_and_no_guess(project: Project, rita: Client, doubt: dict[str, str]) -> None:
    memory = doubtful(project, **doubt)
    assert decide(rita, memory) == 409
    assert Memory.objects.get(pk=memory.pk).status == Status.PENDING_REVIEW


def test_it_is_kept_as_uncertain(project: Project, rita: Client) -> None:
    memory = doubtful(project)
    answer = rita.post(f"{HOME}review/approve/", {"memory": seen(memory), "as_uncertain": "1"})
    assert "Kept as uncertain." in answer.content.decode()
    kept = Memory.objects.get(pk=memory.pk)
    assert (kept.status, kept.source_confidence) == (Status.ACTIVE, SourceConfidence.SPECULATED)
    assert least(project, Stakes.NORMAL) <= kept.confidence < least(project, Stakes.HIGH)


def test_what_is_uncertain_replaces_nothing(project: Project, rita: Client) -> None:
    fact = pending(project, "Rui lives in Porto", predicate="lives_in")
    assert decide(rita, fact) == 200
    guess = doubtful(project, "Rui lives in Faro", source_confidence=SourceConfidence.SPECULATED)
    Memory.objects.filter(pk=guess.pk).update(predicate="lives_in", stateful=True)
    assert decide(rita, guess, as_uncertain="1") == 200
    assert set(Memory.objects.filter(pk__in=[fact.pk, guess.pk]).values_list("status", flat=True)) == {Status.ACTIVE}


def test_the_page_offers_to_reject_first(project: Project, rita: Client) -> None:
    memory = doubtful(project)
    page = rita.get(f"{HOME}memories/{memory.pk}/").content.decode()
    assert page.index('data-key="r"') < page.index('data-key="h"') < page.index('data-key="a"')
    assert "The user did not say this as a fact" in page
    plain = pending(project, "Rui sails")
    assert 'data-key="h"' not in rita.get(f"{HOME}memories/{plain.pk}/").content.decode()


def test_several_are_approved_without_those_that_are_doubtful(project: Project, rita: Client) -> None:
    plain, joke = pending(project, "Rui sails"), doubtful(project)
    answer = rita.post(f"{HOME}review/approve/", {"memory": f"{seen(plain)} {seen(joke)}"})
    assert "did not say this as a fact" in answer.content.decode()
    statuses = [Memory.objects.get(pk=each.pk).status for each in (plain, joke)]
    assert statuses == [Status.ACTIVE, Status.PENDING_REVIEW]
