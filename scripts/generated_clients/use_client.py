"""What callers write with the generated Python client; mypy checks it."""

import datetime

from generated_client import AuthenticatedClient
from generated_client.api.memories import list_memories, revise_memory, search_memories, store_memories
from generated_client.models import (
    MemoriesBody,
    MemoryBody,
    MemoryBodyMetadataType0,
    MemoryList,
    RevisionBody,
    SearchBody,
    SearchResponse,
    TypeEnum,
)

client = AuthenticatedClient(base_url="http://127.0.0.1:8000", token="mp_…")

metadata = MemoryBodyMetadataType0.from_dict({"source": "import"})
said_at = datetime.datetime(2026, 3, 2, tzinfo=datetime.UTC)
memory = MemoryBody(type_=TypeEnum.FACT, content="Ana lives in Lisbon.", metadata=metadata, said_at=said_at)
store_memories.sync(client=client, body=MemoriesBody(user_id="ana", memories=[memory]))

found = search_memories.sync(client=client, body=SearchBody(user_id="ana", query="Where does Ana live?"))
if isinstance(found, SearchResponse):
    for hit in found.results:
        print(hit.content, hit.created_at.isoformat())
        revise_memory.sync(hit.id, client=client, body=RevisionBody(importance=0.9), if_match=f'"{hit.version}"')

listed = list_memories.sync(client=client, user_id="ana", from_=said_at)
if isinstance(listed, MemoryList):
    print(listed.next_)
