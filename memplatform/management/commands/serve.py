"""Run the web server in the foreground, for small teams together with a cluster of workers."""

import os
import resource
import sys
from argparse import ArgumentParser
from contextlib import suppress
from multiprocessing import connection
from threading import Thread
from typing import Any

from django.core.management.base import BaseCommand
from django_q.cluster import Cluster
from granian import Granian
from granian.constants import Interfaces, RuntimeModes

from apps.providers import wordllama
from apps.providers.errors import ProviderUnavailable
from apps.worker import tasks  # noqa: F401  (what the processes that are forked use; they share its memory)
from memplatform.parent_death import join_cluster
from memplatform.settings import env


class Command(BaseCommand):
    """Start granian, with the settings WEB_HOST, WEB_PORT, WEB_WORKERS and WEB_STOP_SECONDS."""

    help = __doc__ or ""
    requires_system_checks: list[str] = []  # the server's processes load the URLs

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--with-workers", action="store_true", help="run a cluster of workers as well")

    def handle(self, *args: Any, **options: Any) -> None:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        with suppress(ProviderUnavailable):
            wordllama.model()  # shared as well
        server = Granian(
            "memplatform.asgi:application",
            address=env.str("WEB_HOST", default="127.0.0.1"),
            port=env.int("WEB_PORT", default=8000, least=1),
            workers=env.int("WEB_WORKERS", default=2, least=1),
            interface=Interfaces.ASGI,
            websockets=False,
            # HTTP runs in a separate thread: in the Python thread, a request took a tenth longer.
            runtime_mode=RuntimeModes.mt,
            runtime_threads=1,
            # Requests are read in full before one of WEB_THREADS is taken for them (memplatform/asgi.py). A connection
            # costs little until then, so a process holds as many as the permitted number of open files allows.
            backlog=2048,
            backpressure=2048,
            respawn_failed_workers=True,
            # At shutdown a worker has this time to finish its requests, then it is killed: a worker that is still
            # starting ignores the signal (granian 2.8). The default is longer than the longest synchronous request.
            workers_kill_timeout=env.int("WEB_STOP_SECONDS", default=35, least=1),
        )
        if options["with_workers"]:
            _serve_with_workers(server)
        else:
            server.serve()


def _serve_with_workers(server: Any) -> None:
    """Run both until a signal asks to stop; where the cluster ends by itself, end the server and exit with status 1."""
    main, is_starting = os.getpid(), [True]
    # The cluster's processes, but not those of the web server, which are forked later.
    os.register_at_fork(after_in_child=lambda: join_cluster(main) if is_starting else None)
    cluster = Cluster()
    cluster.start()
    is_starting.clear()

    def end_with_the_cluster() -> None:
        connection.wait([cluster.sentinel.sentinel])
        server.signal_handler_interrupt()

    Thread(target=end_with_the_cluster, daemon=True).start()
    server.serve()  # from now on SIGTERM and SIGINT stop the server
    was_asked = cluster.has_stopped or cluster.sentinel.is_alive()
    cluster.stop()
    sys.exit(0 if was_asked else 1)
