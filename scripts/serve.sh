#!/bin/sh
# Run the web server in the foreground. WEB_HOST, WEB_PORT, WEB_WORKERS, WEB_THREADS and WEB_STOP_SECONDS change the
# defaults.
# A thread uses at most one pooled connection, so keep WEB_THREADS at or below DB_POOL_SIZE.
# At shutdown a worker has WEB_STOP_SECONDS to finish its requests, then it is killed: a worker that is still starting
# ignores the signal (granian 2.8). The default is longer than the longest synchronous request.
# HTTP runs in a separate thread (runtime mode mt): in the Python thread, a request took a tenth longer.
# Requests are read in full before one of WEB_THREADS is taken for them (memplatform/asgi.py). A connection costs little
# until then, so a process holds many of them: as many as the backlog and the permitted number of open files allow.
set -eu
cd "$(dirname "$0")/.."
ulimit -n "$(ulimit -H -n)"
.venv/bin/python -m memplatform.check_settings
exec .venv/bin/python -m granian --interface asgi \
    --host "${WEB_HOST:-127.0.0.1}" --port "${WEB_PORT:-8000}" \
    --workers "${WEB_WORKERS:-2}" --runtime-mode mt --runtime-threads 1 \
    --backlog 2048 --backpressure 2048 \
    --respawn-failed-workers --workers-kill-timeout "${WEB_STOP_SECONDS:-35}" --no-ws \
    memplatform.asgi:application
