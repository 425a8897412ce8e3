"""Collect the result of the demo over the REST API, and print it."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.conf import settings
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from apps.memories.models import MemoryVector
from apps.pipeline.core.identifiers import end_user_id
from apps.tenants.scope import tenant_scope
from memplatform.demo.access import NAME, Access
from memplatform.demo.client import Client
from memplatform.demo.conversation import MODEL, Posted, traces_of
from memplatform.demo.visitor import can_type, local_model

QUESTION = "Where does Ana live?"
TASK = "Suggest a place for dinner with her manager"
TOKENS = 400
STATUS_STYLES = {"active": "green", "pending_review": "yellow", "superseded": "dim"}
SUMMED = ("turns", "candidates", "discarded", "merged", "superseded", "pending_review", "stored")


def gather(client: Client, posted: Posted, project_id: UUID) -> dict[str, Any]:
    """Return everything that is printed: responses of the REST API, and the number of embeddings from the database."""
    user_id = posted.user_id
    memories = list(client.pages("/v1/memories", user_id=user_id, statuses=list(STATUS_STYLES), limit=200))
    found = client.post("/v1/memories/search", {"user_id": user_id, "query": QUESTION, "limit": 5}).json()
    context = client.post("/v1/context", {"user_id": user_id, "query": TASK, "token_budget": TOKENS}).json()
    counts = [trace["counts"] for trace in traces_of(client, posted)]
    rejected: Counter[str] = Counter()
    for each in counts:
        rejected.update(each.get("rejected", {}))
    end_user = end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=end_user):
        vectors = MemoryVector.objects.filter(end_user_id=end_user).count()
    content = {memory["id"]: memory["content"] for memory in memories}
    links: dict[str, dict[str, Any]] = {}  # each once, although both of its memories have it
    for memory in memories:
        for link in client.get(f"/v1/memories/{memory['id']}")["links"]:
            pair = [memory["content"], content.get(link["memory_id"], link["memory_id"])]
            links.setdefault(link["id"], {"kind": link["kind"], "status": link["status"], "between": pair})
    return {
        "posted": posted,
        "funnel": {
            **{name: sum(each.get(name, 0) for each in counts) for name in SUMMED},
            "rejected": dict(rejected.most_common()),
            "vectors": vectors,
        },
        "memories": memories,
        "links": list(links.values()),
        "found": found["results"],
        "context": context,
    }


def print_result(result: dict[str, Any], console: Console) -> None:
    """Print who extracted, the funnel, the memories, their links, a search and a context block."""
    memories = result["memories"]
    if any(memory["extractor"] == MODEL for memory in memories):
        console.print(f"The sample was extracted from recorded answers of a model ({MODEL}): no model was called.")
    listed = Table(title=f"Memories of {result['posted'].user_id}", title_justify="left")
    for heading in ("status", "type", "memory", "said"):
        listed.add_column(heading, no_wrap=heading != "memory")
    listed.add_column("confidence", justify="right")
    for memory in sorted(memories, key=lambda each: (each["status"], each["said_at"])):
        status, said = memory["status"], memory["said_at"][:10]
        row = [status, memory["type"], Text(memory["content"]), said, f"{memory['confidence']:.2f}"]
        listed.add_row(*row, style=STATUS_STYLES[status])
    links = Table(title="Contradictions and possible duplicates to review", title_justify="left")
    for heading in ("kind", "first memory", "second memory"):
        links.add_column(heading)
    for link in result["links"]:
        one, other = link["between"]
        links.add_row(link["kind"], Text(one), Text(other))
    found = Table(title=f"Search: {QUESTION}", title_justify="left")
    found.add_column("score", justify="right")
    found.add_column("memory")
    for hit in result["found"]:
        found.add_row(f"{hit['score']:.2f}", Text(hit["content"]))
    console.print(_funnel(result["funnel"]), listed)
    console.print(links, found)
    block = Text(result["context"]["context"] or "no memories")
    console.print(Panel(block, title=f"Context for the agent's task: {TASK}", title_align="left"))


def print_addresses(address: str, access: Access, console: Console) -> None:
    """Print the addresses and credentials."""
    table = Table(title="Addresses and credentials", title_justify="left", show_header=False)
    table.add_row("Console", f"{address}/console/")
    table.add_row("Login", f"{NAME} / {access.password}")
    table.add_row("Documentation", f"{address}/docs/")
    table.add_row("API docs", f"{address}/v1/docs")
    table.add_row("API key", access.key)
    console.print(table)


def print_invitation(console: Console) -> None:
    """Invite the visitor to type, and print what a model adds to that, and how."""
    here = "type a sentence and press Enter" if can_type() else "post a sentence with curl (docs/quick-start.md)"
    reader = settings.MODEL or "a table of plain statements, and notes that quote the rest"
    console.print(Text(f"Your turn: {here}. It is read by {reader}."))
    if not settings.MODEL:
        how = local_model() or "ANTHROPIC_API_KEY=… make demo"
        console.print(Text(f"A model also reads what is implied, reworded, corrected or in another language: {how}"))


def _funnel(funnel: dict[str, Any]) -> Table:
    table = Table(title="Funnel", title_justify="left")
    table.add_column("stage")
    table.add_column("count", justify="right")
    table.add_row("turns received", str(funnel["turns"]))
    table.add_row("rejected by the pre-filter", str(sum(funnel["rejected"].values())), style="red")
    for reason, count in funnel["rejected"].items():
        table.add_row(f"  {reason}", str(count), style="dim")
    table.add_row("candidates", str(funnel["candidates"]))
    table.add_row("  discarded", str(funnel["discarded"]), style="dim")
    table.add_row("merged into known memories", str(funnel["merged"]))
    table.add_row("superseded older memories", str(funnel["superseded"]))
    table.add_row("stored", str(funnel["stored"]), style="green")
    table.add_row("waiting for review", str(funnel["pending_review"]), style="yellow")
    table.add_row("embeddings", str(funnel["vectors"]))
    return table
