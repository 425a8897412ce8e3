"""A model is down while turns come in: nothing is lost, and once it answers all is done in order, without a person."""

from collections.abc import Iterator

import pytest

from benchmarks.model_server import ModelServer, Reply, running, simply
from memplatform.demo.client import Client
from tests.instance import Instance, migrated_instance, wait_for
from tests.journeys.serving import serving

pytestmark = [pytest.mark.journey, pytest.mark.soak]
TRIES = 4  # failed tries of an outage, each of three calls
USERS = ("ana", "bo")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with running(ModelServer()) as server:
        yield server


@pytest.fixture(scope="module")
def instance(model: ModelServer) -> Iterator[Instance]:
    """An instance where work has a single attempt, so that one that is counted during the outage ends it."""
    named = {"MODEL": "openai:tested", "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": f"{model.url}/v1"}
    quick = {"WORK_MAX_ATTEMPTS": "1", "MODEL_PAUSE_SECONDS": "0.5", "SYNC_WAIT_SECONDS": "2"}
    with migrated_instance(**named, **quick) as made:
        yield made


@pytest.fixture(scope="module")
def client(instance: Instance) -> Iterator[Client]:
    with serving(instance) as caller:
        yield caller


def test_turns_of_an_outage_are_remembered_after_it(client: Client, instance: Instance, model: ModelServer) -> None:
    model.answering = lambda _: Reply(status=503, headers={"retry-after-ms": "1"}, error="the model is loading")
    traces = {user: [say(client, user, number) for number in range(5)] for user in USERS}
    wait_for(lambda: len(model.asked) >= 3 * TRIES, instance=instance)

    ready = client.get("/readyz")
    assert (ready["status"], ready["dead"]) == ("degraded", 0)
    assert [paused["model"] for paused in ready["paused_models"]] == ["openai:tested"]
    waiting = client.get(f"/v1/traces/{traces['ana'][-1]}")
    assert waiting["status"] == "queued"
    impatient = client.post("/v1/turns", body("cy", 0) | {"mode": "sync"})
    assert (impatient.status_code, impatient.json()["status"]) == (202, "queued")

    model.answering = simply
    every = [*(trace for user in USERS for trace in traces[user]), impatient.json()["trace_id"]]
    wait_for(lambda: all(client.get(f"/v1/traces/{trace}")["status"] != "queued" for trace in every), instance=instance)
    ended = {trace: client.get(f"/v1/traces/{trace}") for trace in every}
    assert {trace["status"] for trace in ended.values()} == {"done"}
    for user in USERS:
        finished = [ended[trace]["finished_at"] for trace in traces[user]]
        assert finished == sorted(finished)
    assert client.get("/readyz")["paused_models"] == []


def body(user: str, number: int) -> dict[str, object]:
    turn = {"role": "user", "content": f"I have instance number {number} in our street."}
    return {"user_id": user, "session_id": f"session {number}", "turns": [turn]}


def say(client: Client, user: str, number: int) -> str:
    return str(client.post("/v1/turns", body(user, number)).json()["trace_id"])
