"""Begin to send spans and metrics from a process of the product, if its environment names a collector."""

from collections.abc import Sequence

from django.db import connection
from prometheus_client.metrics_core import Metric

from apps.telemetry.start import start_telemetry
from apps.tenants.scope import no_tenant


def start_sending() -> None:
    """Send telemetry from this process on; call it after a fork, as threads do the sending."""
    start_telemetry(collect=_metrics)


def _metrics() -> Sequence[Metric]:
    """Return all metrics, from a thread of its own."""
    from apps.api.metrics import REGISTRY  # loads much of the API, which a cluster without a collector never needs

    try:
        with no_tenant():
            return list(REGISTRY.collect())
    finally:
        connection.close()
