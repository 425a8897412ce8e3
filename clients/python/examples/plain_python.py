"""An agent in plain Python that remembers across two runs. Needs MEMPLATFORM_URL and MEMPLATFORM_API_KEY."""

from memplatform_client import Client
from memplatform_client.models import TurnBody


def model(known: str, said: str) -> str:
    """Answer as a language model would that has `known` in its prompt: this one is scripted."""
    facts = [line for line in known.splitlines() if "live" in line.lower()]
    return f"I remember: {facts[0]}" if said.endswith("?") and facts else "I will remember that."


with Client() as memory:
    for session_id, said in (("monday", "I live in Porto."), ("tuesday", "Where do I live?")):
        known = memory.build_context("kim", said, token_budget=300)["context"]
        answer = model(known, said)
        print(answer)
        turns: list[TurnBody] = [{"role": "user", "content": said}, {"role": "assistant", "content": answer}]
        accepted = memory.write_turns(user_id="kim", session_id=session_id, turns=turns)
        memory.wait(accepted["trace_id"])  # only so that the second run comes after the first was understood
