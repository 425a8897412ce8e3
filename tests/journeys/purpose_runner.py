"""Run one row of purposes.toml over HTTP: its turns, decisions and failures, then check what agents see.

Turns go in through the API in mode sync, decisions through the console's forms, and a model on loopback answers what
the row scripts. The keys of a row are explained at the top of purposes.toml.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from apps.memories.live_ports import live
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.worker.process_user import process_user
from benchmarks.model_server import ModelServer, Reply
from tests.journeys.scripted_answers import Row, ScriptedAnswers, dated, turns_of
from tests.outbox.outbox_factories import claim, make_due, make_try_due

USER = "ana"


@dataclass(slots=True)
class PurposeRunner:
    """One row, its callers and its model."""

    row: Row
    project: Project
    api: APIClient
    reviewer: Client
    server: ModelServer | None = None
    script: ScriptedAnswers | None = None
    said: int = 0
    failures: list[str] = field(default_factory=list)

    @property
    def _console(self) -> str:
        return f"/console/{self.project.slug}"

    def run(self) -> list[str]:
        """Take all steps, then return what was found to be otherwise than the row says."""
        if self.server is not None:
            self.script = self.server.answering = ScriptedAnswers(self.row)  # type: ignore[assignment]
        for step in self.row["steps"]:
            self._take(step)
        self._check()
        return self.failures

    def _take(self, step: Row) -> None:
        """Take one step; the first of its keys that names something to do says what."""
        if "say" in step or "turns" in step:
            self._say(step)
        elif "fail" in step or "recover" in step:
            self._set_failure(step)
        elif "rounds" in step:
            for _ in range(step["rounds"]):
                self._pass_time()
                self._work()
        else:
            self._act(step)
            self._work()

    def _pass_time(self) -> None:
        """Let every wait be over: of work for its next attempt, of models for their next try."""
        with system_scope(SystemWork.QUEUE):
            make_due(end_user_id(project_id=self.project.id, user_id=USER))
            make_try_due()

    def _set_failure(self, step: Row) -> None:
        assert self.script is not None, "only a model can fail"
        headers = {name: str(value) for name, value in step.get("headers", {"retry-after-ms": "1"}).items()}
        self.script.failure = Reply(status=step["fail"], headers=headers) if "fail" in step else None

    def _act(self, step: Row) -> None:
        """Do what an agent or a reviewer does besides talking."""
        if "end" in step:
            self._post(f"/v1/sessions/{step['end']}/end", {"user_id": USER})
        elif "store" in step:
            self._post("/v1/memories", {"user_id": USER, "memories": [step["store"]]})
        elif "retract" in step:
            self.api.delete(f"/v1/memories/{self._memory(step['retract'])['id']}")
        else:
            self._decide(step)

    def _say(self, step: Row) -> None:
        turns = []
        for role, text in turns_of(step):
            self.said += 1
            turn = {"role": role, "content": text, "turn_id": f"t{self.said}", "occurred_at": self._moment(step)}
            turns.append(turn | ({"speaker": step["by"]} if "by" in step else {}))
        body: dict[str, Any] = {"user_id": USER, "session_id": step.get("session", "one"), "turns": turns}
        is_failing = self.script is not None and self.script.failure is not None  # nobody waits for an outage to end
        self._post("/v1/turns", body | _scope(step) | {"mode": "async" if is_failing else "sync"})
        self._work()

    def _moment(self, step: Row) -> str:
        """Return when a turn is said: on the step's day (a date, or days before now), a minute after the last one."""
        at = step.get("at", -1)
        moment = datetime.now(UTC) + timedelta(days=at) if isinstance(at, int) else at
        return (moment + timedelta(minutes=self.said - 300 if at == 0 else self.said)).isoformat()

    def _decide(self, step: Row) -> None:
        """Decide as a reviewer does in the console."""
        if "approve" in step:
            words = {"content": step["as"]} if "as" in step else {}
            self._form("review/approve", {"memory": self._seen(step["approve"]), "is_confirmed": "1"} | words)
        elif "reject" in step:
            self._form("review/reject", {"memory": self._seen(step["reject"]), "reason": "not_true"})
        else:
            link, sides, kept = self._contradiction(step.get("keep") or step["both"])
            resolution = "both" if "both" in step else kept
            self._form(f"contradictions/{link}/settle", {"memory": sides, "resolution": resolution})

    def _contradiction(self, wanted: str) -> tuple[str, list[str], str]:
        """Return the open contradiction that a memory has: its id, both sides as seen, and how to keep the memory."""
        held = self._memory(wanted)
        shown = self.api.get(f"/v1/memories/{held['id']}").json()
        links = [each for each in shown["links"] if (each["kind"], each["status"]) == ("contradicts", "open")]
        assert links, f"{held['content']!r} is in no open contradiction"
        link = links[0]
        page = self.reviewer.get(f"{self._console}/contradictions/{parse(Prefix.LINK, link['id'])}/").content.decode()
        sides = list(dict.fromkeys(re.findall(r'"([0-9a-f-]{36}:\d+)"', page)))[:2]
        is_first = sides[0].startswith(str(parse(Prefix.MEMORY, held["id"])))
        return str(parse(Prefix.LINK, link["id"])), sides, "kept_from" if is_first else "kept_to"

    def _form(self, path: str, given: Mapping[str, Any]) -> None:
        response = self.reviewer.post(f"{self._console}/{path}/", given)
        if response.status_code >= 400:
            self.failures.append(f"{path} was refused: {response.status_code}")

    def _seen(self, wanted: str) -> str:
        held = self._memory(wanted)
        return f"{parse(Prefix.MEMORY, held['id'])}:{held['version']}"

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        response = self.api.post(path, body)
        assert response.status_code < 400, response.content
        return response.json()

    def _work(self) -> None:
        user = end_user_id(project_id=self.project.id, user_id=USER)
        with system_scope(SystemWork.QUEUE):
            claimed = claim(only=user)
        for lease in claimed:
            with tenant_scope(project_id=lease.project_id, end_user_id=lease.end_user_id):
                process_user(lease=lease, ports=live())

    def memories(self, *statuses: str) -> list[dict[str, Any]]:
        """Return the user's memories of some statuses."""
        found = self.api.get("/v1/memories", {"user_id": USER, "statuses": list(statuses), "limit": 200}).json()
        return list(found["results"])

    def _memory(self, wanted: str) -> dict[str, Any]:
        held = self.memories("active", "pending_review")
        found = [each for each in held if re.search(wanted, each["content"], re.IGNORECASE)]
        assert found, f"no memory {wanted!r} among {[each['content'] for each in held]}"
        return found[0]

    # What agents, people and the model see in the end.

    def _check(self) -> None:
        for ask in self.row.get("asks", ()):
            self._check_search(ask)
            self._check_context(ask)
        for name, statuses in (("active", ["active"]), ("pending", ["pending_review"]), ("closed", ["superseded"])):
            contents = [each["content"] for each in self.memories(*statuses)]
            self._check_texts(name, contents, self.row.get(name, ()), self.row.get(f"not_{name}", ()))
            if name == "active":
                self._check_once(contents)
        for page in self.row.get("pages", ()):
            held = parse(Prefix.MEMORY, self._memory(page["of"])["id"])
            shown = self.reviewer.get(f"{self._console}/memories/{held}/").content.decode()
            text = " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())
            self._check_texts("page", [text], page.get("says", ()), page.get("never", ()))
        for call in self.row.get("calls", ()):
            status = self.api.get(call["get"]).status_code
            if status != call["status"]:
                self.failures.append(f"GET {call['get']} answered {status}")
        self._check_prompts()

    def _check_search(self, ask: Row) -> None:
        body = {
            "user_id": USER,
            "query": ask["ask"],
            "limit": ask.get("limit", 5),
            "stakes": ask.get("stakes", "normal"),
        }
        hits = [each["content"] for each in self._post("/v1/memories/search", body | _scope(ask))["results"]]
        self._check_texts(f"search {ask['ask']!r}", hits, ask.get("says", ()), ask.get("never", ()))
        self._check_texts(f"first hit of {ask['ask']!r}", hits[:1], ask.get("first", ()), ())

    def _check_context(self, ask: Row) -> None:
        budget = ask.get("tokens", 1_000)
        body = {"user_id": USER, "query": ask["ask"], "token_budget": budget, "stakes": ask.get("stakes", "normal")}
        block = self._post("/v1/context", body | _scope(ask))
        name, lines = f"context for {ask['ask']!r}", block["context"].splitlines()
        self._check_texts(name, lines, ask.get("says", ()), ask.get("never", ()))
        self._check_texts(name, lines, ask.get("tells", ()), ask.get("hides", ()))
        if block["tokens"] > budget:
            self.failures.append(f"{name} has {block['tokens']} of {budget} tokens")

    def _check_once(self, contents: Sequence[str]) -> None:
        for pattern in self.row.get("once", ()):
            found = [text for text in contents if re.search(pattern, text, re.IGNORECASE)]
            if len(found) != 1:
                self.failures.append(f"active: {pattern!r} is held by {found} of {list(contents)}")

    def _check_prompts(self) -> None:
        if self.script is None:
            return
        asked = self.script.asked
        last = [f"{each.context}\n{each.turns}" for each in asked if "<source_turns>" in each.turns][-1:]
        self._check_texts("last prompt", last, self.row.get("prompt", ()), ())
        every = [json.dumps(each.body, ensure_ascii=False) for each in asked]
        self._check_texts("all requests", every, self.row.get("sent", ()), self.row.get("never_sent", ()))
        most = self.row.get("most_calls")
        if most is not None and len(asked) > most:
            self.failures.append(f"the model was called {len(asked)} times")

    def _check_texts(self, name: str, texts: Sequence[str], says: Sequence[str], never: Sequence[str]) -> None:
        for pattern in map(dated, says):
            if not any(re.search(pattern, text, re.IGNORECASE) for text in texts):
                self.failures.append(f"{name}: no {pattern!r} in {[text[:300] for text in texts]}")
        for pattern in map(dated, never):
            self.failures += [
                f"{name}: {pattern!r} in {text[:300]!r}" for text in texts if re.search(pattern, text, re.IGNORECASE)
            ]


def _scope(row: Row) -> dict[str, str]:
    """Return the agent of a step or a question as requests name it."""
    return {"agent_id": row["agent"]} if "agent" in row else {}
