# One image for web, cluster and migrations; compose.yaml starts them.
# The steps are scripts that `make` or the tests run as well, see docs/deploy.md.

FROM python:3.11-slim-bookworm AS environment
WORKDIR /opt/memplatform
COPY requirements.txt scripts/make_env.sh ./
RUN sh make_env.sh python3 requirements.txt .venv

FROM python:3.11-slim-bookworm
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MEMPLATFORM_DATA=/data WEB_HOST=0.0.0.0
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin memplatform \
    && install --directory --owner memplatform --group memplatform --mode 0700 /data
WORKDIR /opt/memplatform
COPY --from=environment /opt/memplatform/.venv .venv
COPY manage.py ./
COPY memplatform memplatform
COPY apps apps
COPY clients clients
COPY templates templates
COPY static static
COPY scripts scripts
USER memplatform
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD [".venv/bin/python", "scripts/healthcheck.py"]
CMD ["sh", "scripts/serve.sh"]
