"""Run the web server in the foreground, for small teams together with a cluster of workers."""

import os
import resource
import subprocess
import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django_q.cluster import Cluster

from memplatform.settings import BASE_DIR, env

LOOK_SECONDS = 1.0
# HTTP runs in a separate thread (runtime mode mt): in the Python thread, a request took a tenth longer.
# Requests are read in full before one of WEB_THREADS is taken for them (memplatform/asgi.py). A connection costs little
# until then, so a process holds many of them: as many as the backlog and the permitted number of open files allow.
_GRANIAN = """
    --interface asgi --runtime-mode mt --runtime-threads 1 --backlog 2048 --backpressure 2048
    --respawn-failed-workers --no-ws
""".split()


class Command(BaseCommand):
    """Become granian, with the settings WEB_HOST, WEB_PORT, WEB_WORKERS and WEB_STOP_SECONDS."""

    help = __doc__ or ""
    requires_system_checks: list[str] = []  # the server's processes load the URLs

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--with-workers", action="store_true", help="run a cluster of workers as well")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["with_workers"]:
            sys.exit(_serve_with_workers())
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        granian = [
            *(sys.executable, "-m", "granian", *_GRANIAN),
            *("--working-dir", str(BASE_DIR)),
            *("--host", env.str("WEB_HOST", default="127.0.0.1")),
            *("--port", str(env.int("WEB_PORT", default=8000, least=1))),
            *("--workers", str(env.int("WEB_WORKERS", default=2, least=1))),
            # At shutdown a worker has this time to finish its requests, then it is killed: a worker that is still
            # starting ignores the signal (granian 2.8). The default is longer than the longest synchronous request.
            *("--workers-kill-timeout", str(env.int("WEB_STOP_SECONDS", default=35, least=1))),
            "memplatform.asgi:application",
        ]
        os.execv(sys.executable, granian)  # noqa: S606  (there is no shell to pass by)


def _serve_with_workers() -> int:
    """Run both until a signal asks to stop; where one of them ends by itself, end the other and return 1."""
    environment = {**os.environ, "MEMPLATFORM_DATA": str(settings.DATA_DIR)}
    server = subprocess.Popen([sys.executable, "-m", "memplatform", "serve"], cwd=BASE_DIR, env=environment)
    cluster = Cluster()  # from now on SIGTERM and SIGINT stop it
    cluster.start()
    while server.poll() is None and cluster.sentinel.is_alive():
        time.sleep(LOOK_SECONDS)
    was_asked = bool(cluster.has_stopped)
    server.terminate()
    if not was_asked:
        cluster.stop()
    return server.wait() if was_asked else 1
