"""Of contradicting statements of one user the last accepted one wins, with any number of workers."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.memories.live_ports import live
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status, TraceStatus
from apps.tenants.models import Project
from apps.worker.shutdown import StopFlag
from apps.worker.work import Worker
from tests.instance import PATIENCE
from tests.soak import SOAK_TURNS
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)

SEEDS = range(20 if SOAK_TURNS else 6)
STATEMENTS = 50 if SOAK_TURNS else 20
# A repeated statement would be dropped as such, so each place is named once.
PLACES = """
    Lisbon Porto Oslo Bergen Madrid Rome Turin Vienna Graz Dublin Paris Lyon Berlin Hamburg Munich Warsaw Prague Brno
    Budapest Athens Sofia Bucharest Zagreb Belgrade Istanbul Ankara Cairo Tunis Lagos Nairobi Delhi Mumbai Tokyo Osaka
    Seoul Busan Beijing Shanghai Sydney Melbourne Boston Chicago Denver Seattle Toronto Montreal Lima Bogota Santiago
    Quito
""".split()
WORKERS = 4
SESSIONS = ("monday", "tuesday", "wednesday")


def test_the_last_accepted_statement_wins_every_time(project: Project) -> None:
    """All seeds' users at the same time: their work is done while they go on speaking."""
    people = [Person(project, f"person {seed}") for seed in SEEDS]
    said = threading.Event()
    with ThreadPoolExecutor(WORKERS) as pool:
        working = [pool.submit(work_until, said) for _ in range(WORKERS)]
        try:
            last = [speak(person, seed) for person, seed in zip(people, SEEDS, strict=True)]
        finally:
            said.set()
        for worker in working:
            worker.result()
    for person, place in zip(people, last, strict=True):
        assert set(person.statuses()) == {TraceStatus.DONE}
        homes = Memory.objects.filter(end_user_id=person.id, predicate="lives_in", status=Status.ACTIVE)
        assert [home.object_text for home in homes] == [place]


def speak(person: Person, seed: int) -> str:
    """Say where they live again and again, in several sessions; return the last place."""
    chance = random.Random(seed)
    places = chance.sample(PLACES, k=STATEMENTS)
    for place in places:
        person.says(f"I live in {place}.", session=chance.choice(SESSIONS))
    return places[-1]


def work_until(said: threading.Event) -> None:
    """Drain as one of several workers until all turns have been sent, and once more."""
    try:
        while not said.is_set():
            drain()
        drain()
    finally:
        connection.close()


def drain() -> None:
    Worker(ports=live(), threads=3, stop=StopFlag(), idle_seconds=0.0, seconds=PATIENCE).run()
