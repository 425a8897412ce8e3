# One image for web, cluster and migrations; compose.yaml and deploy/kubernetes start them.
# The steps are scripts, so that a test runs them without a container engine, in a Debian root of its own
# (tests/deploy/test_image.py, see docs/deploy.md).

FROM debian:bookworm-slim AS base
COPY deploy/image /opt/image
RUN sh /opt/image/base.sh

FROM base AS environment
WORKDIR /opt/memplatform
COPY requirements-server.txt requirements-uv.txt scripts/make_env.sh ./
RUN sh /opt/image/environment.sh

FROM base
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MEMPLATFORM_DATA=/data WEB_HOST=0.0.0.0
RUN sh /opt/image/user.sh
WORKDIR /opt/memplatform
COPY --from=environment /opt/memplatform/.venv .venv
COPY manage.py ./
COPY memplatform memplatform
COPY apps apps
COPY clients clients
COPY scripts scripts
COPY docs docs
USER memplatform
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD [".venv/bin/python", "scripts/healthcheck.py"]
CMD [".venv/bin/python", "manage.py", "serve"]
