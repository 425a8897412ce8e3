#!/bin/sh
# Serve the web application, in the foreground. WEB_HOST, WEB_PORT, WEB_WORKERS, WEB_THREADS and WEB_STOP_SECONDS change
# the defaults.
# A thread holds one pooled connection at most, so WEB_THREADS stays at or below DB_POOL_SIZE.
# A worker has WEB_STOP_SECONDS to answer what it has in hand, then it is killed: one that is told to end while it still
# loads doesn't hear it (granian 2.8). The default lets the longest synchronous request end.
# HTTP is spoken by a thread beside Python's own: with it in one of them, a request took a tenth longer.
set -eu
cd "$(dirname "$0")/.."
exec .venv/bin/python -m granian --interface wsgi \
    --host "${WEB_HOST:-127.0.0.1}" --port "${WEB_PORT:-8000}" \
    --workers "${WEB_WORKERS:-2}" --blocking-threads "${WEB_THREADS:-8}" \
    --runtime-mode mt --runtime-threads 1 \
    --respawn-failed-workers --workers-kill-timeout "${WEB_STOP_SECONDS:-35}" --no-ws \
    memplatform.wsgi:application
