"""All methods of mem0's client in an order in which they can be called, and what each comes to.

A method that the installed client has and no row names fails tests/journeys/test_mem0_clients.py.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

UNSUPPORTED = "ValidationError"  # what the client raises for our 422
NOTHING = "mem_" + "0" * 32


@dataclass
class Journey:
    """What the calls before have answered."""

    user_id: str
    wait: Callable[[str], Any]
    project_id: str = ""
    memory_ids: list[str] = field(default_factory=list)

    @property
    def filters(self) -> dict[str, Any]:
        return {"user_id": self.user_id}

    def processed(self, added: Any) -> bool:
        self.wait(added["event_id"])
        return True

    def listed(self, page: Any) -> bool:
        self.memory_ids = [each["id"] for each in page["results"]]
        return page["count"] == 3


@dataclass(frozen=True)
class Row:
    """One call: its arguments, and the check of its answer or the name of the exception that refuses it."""

    method: str
    arguments: Callable[[Journey], tuple[Any, ...]] = lambda _: ()
    options: Callable[[Journey], dict[str, Any]] = lambda _: {}
    shows: Callable[[Journey, Any], bool] = lambda _, answer: "message" in answer
    refused: str = ""

    def call_on(self, memory: Any, at: Journey) -> Any:
        return getattr(memory, self.method)(*self.arguments(at), **self.options(at))


def _is_in_order(hits: list[dict[str, Any]]) -> bool:
    """Return True if hits are in the order of their scores."""
    scores = [hit["score"] for hit in hits]
    return scores == sorted(scores, reverse=True)


SAID = "I live in Braga and I play the cello. My sister Nora lives in Ghent."

ROWS = (
    Row("add", lambda _: (SAID,), lambda at: at.filters | {"run_id": "r1"}, Journey.processed),
    Row("get_all", options=lambda at: {"filters": at.filters, "page": 1, "page_size": 5}, shows=Journey.listed),
    Row(
        "search",
        lambda _: ("Where does Ned live?",),
        lambda at: {"filters": at.filters, "top_k": 3, "threshold": 0.1, "rerank": True},
        lambda _, found: "Braga" in found["results"][0]["memory"] and _is_in_order(found["results"]),
    ),
    Row("get", lambda at: (at.memory_ids[0],), shows=lambda at, one: one["id"] == at.memory_ids[0]),
    Row(
        "update",
        lambda at: (at.memory_ids[0],),
        lambda _: {"metadata": {"sure": True}},
        lambda _, one: one["metadata"] == {"sure": True},
    ),
    Row("history", lambda at: (at.memory_ids[0],), shows=lambda _, made: made[0]["event"] == "ADD"),
    Row("feedback", lambda at: (at.memory_ids[0],), lambda _: {"feedback": "negative"}, refused=UNSUPPORTED),
    Row("get_summary", options=lambda at: {"filters": at.filters}, refused=UNSUPPORTED),
    Row("batch_update", lambda at: ([{"memory_id": at.memory_ids[1], "metadata": {"a": 1}}],), refused=UNSUPPORTED),
    Row("batch_delete", lambda at: ([{"memory_id": at.memory_ids[1]}],), refused=UNSUPPORTED),
    Row("delete", lambda at: (at.memory_ids[0],), lambda _: {"delete_linked": True}),
    Row("delete_all", options=lambda at: at.filters | {"filters": {"run_id": "r1"}}),
    Row("users", shows=lambda at, found: at.user_id in {each["name"] for each in found["results"]}),
    Row("get_profile", lambda at: (at.user_id,), refused=UNSUPPORTED),
    Row("get_profile_settings", refused=UNSUPPORTED),
    Row("generate_profile", lambda at: (at.user_id,), refused=UNSUPPORTED),
    Row("update_profile_settings", options=lambda _: {"enabled": True}, refused=UNSUPPORTED),
    Row("sample_profiles", refused=UNSUPPORTED),
    Row("get_profile_job", lambda _: ("1",), refused=UNSUPPORTED),
    Row("create_memory_export", lambda _: ("{}",), lambda at: at.filters, refused=UNSUPPORTED),
    Row("get_memory_export", options=lambda at: at.filters, refused=UNSUPPORTED),
    Row("get_project", refused=UNSUPPORTED),
    Row("update_project", options=lambda _: {"custom_instructions": "Be kind."}, refused=UNSUPPORTED),
    Row("get_webhooks", lambda at: (at.project_id,), refused=UNSUPPORTED),
    Row("create_webhook", lambda at: ("https://example.com", "w", at.project_id, ["memory_add"]), refused=UNSUPPORTED),
    Row("update_webhook", lambda _: (1, "w"), refused=UNSUPPORTED),
    Row("delete_webhook", lambda _: (1,), refused=UNSUPPORTED),
    Row("chat", refused="NotImplementedError"),  # by the client itself
    Row("delete_users", options=lambda at: at.filters),
    Row("reset"),  # erases whom the others have left, here the end user of the next row's add
)

PROJECT_METHODS = {  # of client.project, all about projects and their members
    "get": {},
    "create": {"name": "p"},
    "update": {"custom_instructions": "Be kind."},
    "delete": {},
    "get_members": {},
    "add_member": {"email": "a@example.com"},
    "update_member": {"email": "a@example.com", "role": "READER"},
    "remove_member": {"email": "a@example.com"},
}
