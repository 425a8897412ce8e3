"""How many requests a process answers at the same time: each has a thread, and at most one database connection.

Django runs the middlewares and the view of a request in a thread of its own, of which it starts any number.
"""

import asyncio

from apps.api.waiting import SLOT, Slot
from memplatform.asgi_types import Application, Event, Receive, Scope, Send

# A monitor gets its answer while all slots are taken. It knows the address of this process, and perhaps none of the
# names that Django accepts.
MONITORING_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
STALL_SECONDS = 60.0  # a reader that takes nothing for so long is cut off


class RequestSlots:
    """Lets `count` requests at a time be answered, in the order in which they have come.

    The slot of a request is free again when its answer begins, so that slow readers keep none, and while it waits.
    """

    def __init__(self, application: Application, *, count: int, monitoring_host: str) -> None:
        self._application = application
        self._slots = asyncio.Semaphore(count)
        self._monitoring_host = monitoring_host.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["path"] in MONITORING_PATHS:
            others = [(name, value) for name, value in scope["headers"] if name != b"host"]
            known = {**scope, "headers": [*others, (b"host", self._monitoring_host)]}
            await self._application(known, receive, send)
            return
        slot = Slot(self._slots)

        async def send_without_slot(event: Event) -> None:
            slot.give_back()
            async with asyncio.timeout(STALL_SECONDS):
                await send(event)

        await slot.take()
        try:
            await self._application({**scope, SLOT: slot}, receive, send_without_slot)
        finally:
            slot.give_back()
