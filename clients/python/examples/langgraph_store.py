"""An agent of LangGraph that remembers across two runs. Needs MEMPLATFORM_URL and MEMPLATFORM_API_KEY."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from memplatform_client import Client
from memplatform_client.langgraph import MemplatformStore


class State(TypedDict):
    """What goes through the graph."""

    user_id: str
    said: str
    answer: str


def model(said: str, known: list[str]) -> str:
    """Answer as a language model would: this one is scripted."""
    return f"You told me: {known[0]}" if said.endswith("?") and known else "I will remember that."


def chat(state: State, runtime: Runtime) -> dict[str, str]:
    """Answer with what is known, and remember what was said."""
    namespace = ("facts", state["user_id"])
    known = [item.value["text"] for item in runtime.store.search(namespace, query=state["said"], limit=3)]
    if not state["said"].endswith("?"):
        runtime.store.put(namespace, key=str(len(known)), value={"text": state["said"]})
    return {"answer": model(state["said"], known)}


with Client() as client:
    store = MemplatformStore(client, user_of=lambda namespace: namespace[1])
    graph = StateGraph(State).add_node(chat).add_edge(START, "chat").add_edge("chat", END).compile(store=store)
    for said in ("I live in Porto.", "Where do I live?"):
        print(graph.invoke({"user_id": "kim", "said": said})["answer"])
