"""Requests and workers beside a full database: time to acknowledgement, and what is lost or done twice after kills."""

from itertools import count
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import connection

from benchmarks.ack import CLIENTS, load
from benchmarks.races import lost_and_doubled
from benchmarks.service import running_service

WARM_UP = 200
REQUESTS = 500
PATIENCE = 600.0  # seconds for the work that is waiting when the cluster starts


def work(*, requests: int) -> dict[str, Any]:
    """Return `lost` and `doubled` after kills of the cluster, and the acknowledgement times with one and 16 clients."""
    with running_service(cluster=False, DATABASE_URL=_address(), SECRET_KEY=settings.SECRET_KEY) as service:
        numbers = count()
        load(service, clients=4, requests=WARM_UP, numbers=numbers)
        alone = load(service, clients=1, requests=REQUESTS, numbers=numbers)
        together = load(service, clients=CLIENTS, requests=REQUESTS, numbers=numbers)
        service.start_cluster()
        lost, doubled = lost_and_doubled(service, requests=requests, seconds=PATIENCE)
    return {"lost": lost, "doubled": doubled, "ack": alone, f"ack_clients_{CLIENTS}": together}


def _address() -> str:
    """Return the address of the scratch database; its host may be the folder of a socket."""
    where = connection.settings_dict
    user = f"{quote(where['USER'])}:{quote(where.get('PASSWORD') or '')}"
    return f"postgresql://{user}@/{where['NAME']}?{urlencode({'host': where['HOST'], 'port': where['PORT'] or 5432})}"
