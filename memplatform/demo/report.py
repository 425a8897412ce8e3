"""Print the result of the demo."""

from django.conf import settings
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from memplatform.demo.access import Access
from memplatform.demo.conversation import MODEL
from memplatform.demo.local_models import local_model
from memplatform.demo.result import QUESTION, TASK, Funnel, Result
from memplatform.demo.visitor import can_type

STATUS_STYLES = {"active": "green", "pending_review": "yellow", "superseded": "dim"}


def print_result(result: Result, *, console: Console) -> None:
    """Print who extracted, the funnel, the memories, their links, a search and a context block."""
    if any(memory["extractor"] == MODEL for memory in result.memories):
        console.print(f"The sample was extracted from recorded answers of a model ({MODEL}): no model was called.")
    console.print(_funnel(result.funnel), _memories(result), _links(result), _search(result))
    block = Text(result.context["context"] or "no memories")
    console.print(Panel(block, title=f"Context for the agent's task: {TASK}", title_align="left"))


def print_addresses(*, address: str, access: Access, console: Console) -> None:
    """Print the addresses and credentials."""
    table = Table(title="Addresses and credentials", title_justify="left", show_header=False)
    table.add_row("Console", f"{address}/console/")
    table.add_row("Login", f"{access.login} / {access.password}")
    if (settings.DOCUMENTATION_ROOT / "index.html").exists():
        table.add_row("Documentation", f"{address}/docs/")
    table.add_row("API docs", f"{address}/v1/docs")
    table.add_row("API key", access.key)
    console.print(table)


def print_invitation(*, console: Console) -> None:
    """Invite the visitor to type, and print what a model adds to that, and how."""
    here = "type a sentence and press Enter" if can_type() else "post a sentence with curl (docs/quick-start.md)"
    reader = settings.MODEL or "a table of plain statements, and notes that quote the rest"
    console.print(Text(f"Your turn: {here}. It is read by {reader}."))
    if not settings.MODEL:
        found = local_model()
        how = f"{found.server} runs here: {found.command}" if found else "ANTHROPIC_API_KEY=… make demo"
        console.print(Text(f"A model also reads what is implied, reworded, corrected or in another language: {how}"))


def _funnel(funnel: Funnel) -> Table:
    table = Table(title="Funnel", title_justify="left")
    table.add_column("stage")
    table.add_column("count", justify="right")
    table.add_row("turns received", str(funnel.turns))
    table.add_row("rejected by the pre-filter", str(sum(funnel.rejected.values())), style="red")
    for reason, count in funnel.rejected.items():
        table.add_row(f"  {reason}", str(count), style="dim")
    table.add_row("candidates", str(funnel.candidates))
    table.add_row("  discarded", str(funnel.discarded), style="dim")
    table.add_row("merged into known memories", str(funnel.merged))
    table.add_row("superseded older memories", str(funnel.superseded))
    table.add_row("stored", str(funnel.stored), style="green")
    table.add_row("waiting for review", str(funnel.pending_review), style="yellow")
    table.add_row("embeddings", str(funnel.vectors))
    return table


def _memories(result: Result) -> Table:
    table = Table(title=f"Memories of {result.posted.user_id}", title_justify="left")
    for heading in ("status", "type", "memory", "said"):
        table.add_column(heading, no_wrap=heading != "memory")
    table.add_column("confidence", justify="right")
    for memory in sorted(result.memories, key=lambda each: (each["status"], each["said_at"])):
        status, said = memory["status"], memory["said_at"][:10]
        row = [status, memory["type"], Text(memory["content"]), said, f"{memory['confidence']:.2f}"]
        table.add_row(*row, style=STATUS_STYLES[status])
    return table


def _links(result: Result) -> Table:
    table = Table(title="Contradictions and possible duplicates to review", title_justify="left")
    for heading in ("kind", "first memory", "second memory"):
        table.add_column(heading)
    for link in result.links:
        one, other = link["between"]
        table.add_row(link["kind"], Text(one), Text(other))
    return table


def _search(result: Result) -> Table:
    table = Table(title=f"Search: {QUESTION}", title_justify="left")
    table.add_column("score", justify="right")
    table.add_column("memory")
    for hit in result.found:
        table.add_row(f"{hit['score']:.2f}", Text(hit["content"]))
    return table
