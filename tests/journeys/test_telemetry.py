"""An operator follows a request from the caller's trace to the model and the vectors, and loses nothing by it."""

import json
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from benchmarks.model_server import ModelServer, running
from memplatform_client import Client
from tests.instance import PATIENCE, Instance, free_port, migrated_instance, wait_for
from tests.telemetry.otlp_collector import Collector, running_collector

pytestmark = pytest.mark.journey
CANARY = "Zanzibarquartz"
USER = "kestrel-of-the-canary"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SOON = {"batch_quiet_seconds": 1}  # the model is asked when a session was quiet for this long
CALLER = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


@dataclass
class Observed:
    """A running product whose telemetry goes to a collector."""

    instance: Instance
    collector: Collector
    collecting: ExitStack  # ends the collector
    key: str
    address: str

    def post(self, text: str, *, session: str, **headers: str) -> tuple[dict[str, Any], Any]:
        """Send a turn; return the answer and its headers."""
        body = {"user_id": USER, "session_id": session, "turns": [{"role": "user", "content": text}]}
        request = urllib.request.Request(
            f"{self.address}/v1/turns",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **headers},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer), answer.headers

    def get(self, path: str) -> str:
        request = urllib.request.Request(f"{self.address}{path}", headers={"Authorization": f"Bearer {self.key}"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def status(self, trace: str) -> str:
        return str(json.loads(self.get(f"/v1/traces/{trace}"))["status"])

    def wait(self, done: Any) -> None:
        wait_for(done, instance=self.instance)


@pytest.fixture(scope="module")
def observed() -> Iterator[Observed]:
    with ExitStack() as collecting, running(ModelServer()) as model:
        collector = collecting.enter_context(running_collector())
        port = str(free_port())
        sending = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        models = {"MODEL": "openai:simple", "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{model.url}/v1"}
        few = {"WEB_PORT": port, "WEB_WORKERS": "1", "CLUSTER_WORKERS": "1"}
        with migrated_instance(**sending, **models, **few) as instance:
            key = instance.new_key("observed")
            admin = instance.run_all(["createkey", "observed", "--scope=admin"]).split()[-1]
            processes = [instance.start(*instance.command("serve")), instance.start(*instance.command("qcluster"))]
            made = Observed(instance, collector, collecting, key, f"http://127.0.0.1:{port}")
            wait_for(lambda: _answers(made), instance=instance, process=processes[0])
            with Client(made.address, admin) as owner:
                owner.request("PATCH", "/v1/configuration", body={"version": 1, "settings": {"extraction": SOON}})
            yield made
            for process in processes:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=PATIENCE)


def _answers(observed: Observed) -> bool:
    try:
        return "ok" in observed.get("/healthz")
    except OSError:
        return False


def test_one_trace_leads_from_the_request_to_the_model_and_the_vectors(observed: Observed) -> None:
    collector = observed.collector
    accepted, headers = observed.post(
        f"I live in {CANARY} and I work as a carpenter.", session="one", traceparent=CALLER, **{"X-Request-Id": "r-1"}
    )
    assert headers["X-Request-Id"] == "r-1"
    observed.wait(lambda: collector.named("chat simple") and collector.named("index memories"))
    observed.wait(lambda: any(span.parent_id == "00f067aa0ba902b7" for span in collector.spans))
    (server,) = collector.named("POST /v1/turns")
    assert (server.trace_id, server.attributes["memplatform.request_id"]) == (TRACE_ID, "r-1")
    by_id = {span.span_id: span for span in collector.spans}
    for name, parent in {
        "chat simple": "stage extract",
        "stage extract": "extract traces",
        "extract traces": "POST /v1/turns",
        "stage pre_filter": "POST /v1/turns",
        "index memories": "POST /v1/turns",
    }.items():
        span = collector.named(name)[0]
        assert (span.trace_id, by_id[span.parent_id].name) == (TRACE_ID, parent), name
    call = collector.named("chat simple")[0].attributes
    assert {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"}.items() <= call.items()
    assert call["gen_ai.usage.input_tokens"] > 0
    settled = {span.attributes["memplatform.trace"] for span in collector.named("settle trace")}
    assert accepted["trace_id"] in settled


def test_metrics_of_all_processes_are_served(observed: Observed) -> None:
    call = 'memplatform_model_calls_total{model="openai:simple",outcome="answered",purpose="extract"}'
    observed.wait(lambda: call in observed.get("/metrics"))  # the drain has counted it
    assert 'memplatform_work_total{kind="run_pipeline",outcome="done"}' in observed.get("/metrics")
    assert 'memplatform_http_requests_total{method="POST",route="/v1/turns",status="202"}' in observed.get("/metrics")


def test_nothing_that_people_say_is_sent(observed: Observed) -> None:
    assert observed.collector.bodies
    for word in (CANARY, USER, "carpenter"):
        assert not any(word.encode() in body for body in observed.collector.bodies), word


def test_a_collector_that_hangs_holds_nothing_up(observed: Observed) -> None:
    collector = observed.collector
    collector.answers.clear()
    observed.post("I have a fish.", session="hanging")
    observed.wait(lambda: collector.held)
    for count in range(20):
        accepted, _ = observed.post(f"I have {count + 2} fish.", session=f"hanging {count}")
    observed.wait(lambda: observed.status(accepted["trace_id"]) == "done")
    assert not collector.answers.is_set()
    collector.answers.set()


@pytest.mark.soak
def test_a_collector_that_is_away_costs_lines_of_the_log_and_nothing_else(observed: Observed) -> None:
    observed.collecting.close()
    posted = [observed.post(f"I have {count} dogs.", session=f"away {count}") for count in range(2, 12)]
    for accepted, _ in posted:
        observed.wait(lambda trace=accepted["trace_id"]: observed.status(trace) == "done")
    lines = [line for line in observed.instance.output.splitlines() if "opentelemetry" in line.lower()]
    assert all("level='error'" in line for line in lines), lines
    with running_collector(observed.collector.port) as again:
        observed.post("I have a cat.", session="again")
        observed.wait(lambda: bool(again.named("POST /v1/turns")))
