"""Django settings, read from the environment; docs/configuration.md describes every variable."""

import contextlib
import logging
import os
import secrets
import tempfile
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from memplatform import embedded
from memplatform.database_settings import database
from memplatform.environment import Environment, InvalidSetting
from memplatform.logs import LEVELS, LogFormat, logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent  # the checkout, or the folder of installed packages
IS_CHECKOUT = (BASE_DIR / "manage.py").exists()
env = Environment((BASE_DIR if IS_CHECKOUT else Path.cwd()) / ".env")

DEBUG = env.bool("DEBUG", default=False)
_OF_USER = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "memplatform"
DATA_DIR = Path(env.str("MEMPLATFORM_DATA", default=str(BASE_DIR / "var" if IS_CHECKOUT else _OF_USER))).resolve()
try:
    DATA_DIR.mkdir(parents=True, exist_ok=True)
except OSError as error:
    raise InvalidSetting(f"MEMPLATFORM_DATA: {DATA_DIR} can't be made: {error.strerror}") from error

SECRET_KEY_CHARACTERS = 32  # at least


def _secret_key() -> str:
    """Return the key from the environment, or with the embedded database one that is generated once per data folder."""
    if given := env.str("SECRET_KEY", default=""):
        if len(given) < SECRET_KEY_CHARACTERS and not DEBUG:
            raise ImproperlyConfigured(f"SECRET_KEY must have at least {SECRET_KEY_CHARACTERS} characters")
        return given
    if env.str("DATABASE_URL", default=""):
        raise ImproperlyConfigured("set SECRET_KEY, as DATABASE_URL is set: all processes must have the same")
    path = DATA_DIR / "secret_key"
    if not path.exists():
        # The file gets its name only when complete, so that processes starting together all read the same key.
        with tempfile.NamedTemporaryFile("w", dir=DATA_DIR) as made:
            made.write(secrets.token_urlsafe(64))
            made.flush()
            with contextlib.suppress(FileExistsError):
                os.link(made.name, path)
    return path.read_text()


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# Under which /readyz and /metrics are asked for, whatever address a monitor has used.
MONITORING_HOST = next((host for host in ALLOWED_HOSTS if not host.startswith(("*", "."))), "localhost")
PUBLIC_URL = env.str("PUBLIC_URL", default="")  # for links in messages; empty: without links
SUB_PATH = urlsplit(PUBLIC_URL).path.rstrip("/")  # below which a proxy shows this server; "" for the root of the host
FORCE_SCRIPT_NAME = SUB_PATH or None  # all addresses begin with it
CSRF_TRUSTED_ORIGINS = ["{0.scheme}://{0.netloc}".format(urlsplit(PUBLIC_URL))] if PUBLIC_URL else []

INSTALLED_APPS = [
    "apps.tenants.apps.TenantsConfig",
    "apps.traces",
    "apps.outbox",
    "apps.alerts",
    "apps.events",
    "apps.items",
    "apps.imports",
    "apps.memories.apps.MemoriesConfig",
    "apps.projects",
    "apps.queue",
    "apps.tuning",
    "apps.privacy",
    "apps.intake",
    "apps.worker.apps.WorkerConfig",
    "apps.api",
    "apps.console",
    "memplatform.apps.MemplatformConfig",
    "memplatform.apps.TablesAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "django_filters",
    "django_q",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
if find_spec("django_migration_linter"):  # a tool of `make check`, which is not in the image
    INSTALLED_APPS.append("django_migration_linter")

MIDDLEWARE = [
    "memplatform.request_telemetry.RequestTelemetry",  # sees what becomes of requests in all others
    "memplatform.middleware.streamed_in_blocks",
    "memplatform.middleware.refused_body",
    "memplatform.middleware.ContentPolicy",  # outside of the others: errors of the others are pages as well
    "memplatform.middleware.no_tenant_yet",
    "memplatform.middleware.keys_by_https",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "memplatform.middleware.PageAddresses",
    "django.middleware.csrf.CsrfViewMiddleware",
    "memplatform.middleware.storable_input",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memplatform.middleware.actors",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memplatform.middleware.not_stored",
    "memplatform.middleware.erased_caches",
]

ROOT_URLCONF = "memplatform.urls"
CSRF_FAILURE_VIEW = "apps.console.errors.csrf_failure"
ASGI_APPLICATION = "memplatform.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "memplatform" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.console.context_processors.page_frame",
            ],
            # Every template may use them without loading them.
            "builtins": [
                "apps.console.templatetags.blocks",
                "apps.console.templatetags.console",
                "django.templatetags.static",
            ],
        },
    }
]

# --- database: the embedded PostgreSQL unless DATABASE_URL names another one
EMBEDDED_DIR = DATA_DIR / "postgresql"
DATABASE_IS_EMBEDDED = not env.str("DATABASE_URL", default="")
POOL_SIZE = env.int("DB_POOL_SIZE", default=20)
# Prepared statements are parsed and planned once per connection. Set DB_PREPARE=false behind a pooler that assigns
# server connections per transaction; cursors of the server that outlive a transaction don't work there either.
DB_PREPARE = env.bool("DB_PREPARE", default=True)
# The address of the embedded server is completed by memplatform.database.ensure_database(), which starts it.
_own = {"HOST": str(embedded.socket_directory(EMBEDDED_DIR))} if DATABASE_IS_EMBEDDED else env.db_url("DATABASE_URL")
DATABASES = {"default": database(address=_own, is_prepared=DB_PREPARE, pool_size=POOL_SIZE)}
# What differs in the address of the owner of the tables; `migrate` connects with it.
_owner = env.db_url("DATABASE_OWNER_URL") if env.str("DATABASE_OWNER_URL", default="") else {}
DATABASE_OWNER = {name: _owner[name] for name in ("USER", "PASSWORD", "HOST", "PORT") if _owner}
DATABASE_OWNER_OPTIONS = _owner.get("OPTIONS", {})
# Seconds after which the server cancels a statement, or its wait for a lock (memplatform/database.py); 0: never.
DB_REQUEST_SECONDS = 30.0
DB_WORK_SECONDS = 60.0
DB_COMMAND_SECONDS = 600.0
DB_LOCK_SECONDS = 10.0
DB_MIGRATION_LOCK_SECONDS = 3.0
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- work: django-q2 runs all of it
CLUSTER_WORKERS = env.int("CLUSTER_WORKERS", default=2, least=1)  # processes that do the work of end users
CACHES: dict[str, dict[str, object]] = {
    # What all servers have to know: attempts to log in, and codes that were used. `migrate` makes the table.
    "default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cache_entries"},
    # Through it a cluster tells its workers that it stops; it is of the processes of one host.
    "host": {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache", "LOCATION": DATA_DIR / "cache"},
    # What a process has counted of projects.
    "limits": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 10_000}},
}
Q_CLUSTER: dict[str, object] = {
    "name": "memplatform",
    "cache": "host",
    "workers": CLUSTER_WORKERS + (CLUSTER_WORKERS > 1),  # one is left for other tasks
    "timeout": 600,  # a part of a daily job takes one minute, work waits for the models that it has called
    "retry": 660,  # must exceed the timeout, or a running task is started twice
    "max_attempts": 1,  # the outbox retries, not django-q2
    "save_limit": -1,  # successful tasks are not stored; the default loads all of them at every save
    "poll": 0,  # ListeningBroker waits for a notification
    "catch_up": False,
    "guard_cycle": 2.0,  # seconds in which a killed process is replaced; the default costs an idle server CPU
    "orm": "default",
    "broker_class": "memplatform.listening_broker.ListeningBroker",
}
if REDIS_URL := env.str("REDIS_URL", default=""):
    if not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
        raise InvalidSetting("REDIS_URL must be like redis://host:6379/0")
    if find_spec("redis") is None:
        raise InvalidSetting("REDIS_URL needs packages that are not installed: memplatform[server]")
    del Q_CLUSTER["orm"]
    Q_CLUSTER |= {"poll": 0.2, "broker_class": "memplatform.redis_broker.RedisBroker"}
WORK_THREADS = 32  # end users that a process works for at once; most wait for a model
WORKER_BATCH_RUNS = 20  # waiting traces of a session that share an extraction
WORK_SLICE_SECONDS = 5.0  # for one end user, then others get their turn
WORK_LEASE_SECONDS = 20  # after a worker was killed, its users wait this long
HEARTBEAT_SECONDS = 5.0  # well below WORK_LEASE_SECONDS, as heartbeats renew leases
WORK_MAX_ATTEMPTS = 5  # not counting those while a model or the database is away
WORK_RETENTION_DAYS = 7  # of rows of finished work
IDEMPOTENCY_KEPT_HOURS = 24  # clients try again within a day
MAX_ITEMS = 100_000  # per project
IMPORT_MAX_MB = 100  # of one file, which is sent in one request and read as a whole
IMPORT_KEPT_DAYS = 7  # of the file of an import that nobody finishes
SESSION_IDLE_MINUTES = 30  # then a session without turns is ended
ACCESS_FLUSH_SECONDS = 5.0  # how often a process stores which memories it has returned; 0: never
ERASED_CACHE_SECONDS = 60.0  # how often a process clears its caches of texts, also those of erased users; 0: never
SYNC_WAIT_SECONDS = 30  # then a synchronous request is answered 202

# --- models
EMBEDDER = env.str("EMBEDDER", default="wordllama")
EMBEDDER_DIMENSION = env.int("EMBEDDER_DIMENSION", default=1_536, least=1)  # of an OpenAI-compatible embedder
EMBEDDER_BASE_URL = env.str("EMBEDDER_BASE_URL", default="")
EMBEDDER_API_KEY = env.str("EMBEDDER_API_KEY", default="")
ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="")
ANTHROPIC_BASE_URL = env.str("ANTHROPIC_BASE_URL", default="")
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
# Several servers at once, as JSON: name -> provider, model, base_url, api_key and more (apps/providers/entries.py).
MODELS: dict[str, dict[str, object]] = env.json("MODELS", default={})
# The name of one of these, or "provider:name" as in "openai:gpt-4.1-mini"; empty: a table and notes extract alone.
MODEL = env.str("MODEL", default="anthropic:claude-haiku-4-5" if ANTHROPIC_API_KEY else "")
MODEL_TIMEOUT_SECONDS = env.float("MODEL_TIMEOUT_SECONDS", default=30.0)
MODEL_PAUSE_SECONDS = 5.0  # before the next try; doubles up to 5 minutes
MODEL_OUTAGE_DAYS = 3.0  # after this, work that still waits is dead
# Hosts of models that may have private addresses; all others must be public (apps/providers/outbound.py).
PRIVATE_HOSTS = env.list("PRIVATE_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
MODEL_CONCURRENCY = 64  # calls of one process at once
# Dollars a million tokens: read, written, read from the cache, written to it.
# From the vendors' price lists of late 2025; entries of MODELS name prices of their own.
MODEL_PRICES: dict[str, dict[str, float]] = {
    "claude-haiku-4-5": {"input": 1.0, "output": 5.0, "cache_read": 0.10, "cache_write": 1.25},
    "claude-sonnet-4-5": {"input": 3.0, "output": 15.0, "cache_read": 0.30, "cache_write": 3.75},
}

# --- messages about alerts, events and webhooks
# Hosts of webhooks that may have private addresses or be called without TLS. Project admins choose webhooks, so the
# model servers in PRIVATE_HOSTS are not among them.
WEBHOOK_PRIVATE_HOSTS = env.list("WEBHOOK_PRIVATE_HOSTS", default=[])
WEBHOOK_TIMEOUT_SECONDS = 10.0  # for the receiver to answer
EVENT_RETENTION_DAYS = 14  # deliveries are tried for three days
# smtp+tls://user:password@host:587, smtp+ssl:// or smtp://; empty: no mail is sent
_mail = env.email_url("EMAIL_URL") if env.str("EMAIL_URL", default="") else {}
EMAIL_HOST = _mail.get("EMAIL_HOST") or ""
EMAIL_PORT = _mail.get("EMAIL_PORT") or 587
EMAIL_HOST_USER = _mail.get("EMAIL_HOST_USER") or ""
EMAIL_HOST_PASSWORD = _mail.get("EMAIL_HOST_PASSWORD") or ""
EMAIL_USE_TLS = bool(_mail.get("EMAIL_USE_TLS"))
EMAIL_USE_SSL = bool(_mail.get("EMAIL_USE_SSL"))
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="memplatform@localhost")

# --- the ledger: a folder for entries that the retention period has removed
_ledger_archive = env.str("LEDGER_ARCHIVE", default="")
LEDGER_ARCHIVE = Path(_ledger_archive) if _ledger_archive else None

# --- telemetry: what a collector gets is set by the standard variables of OpenTelemetry (apps/telemetry/tracing.py)
METRICS_DIR = DATA_DIR / "metrics"  # the counts of all processes of this data folder
DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID = True  # RequestTelemetry has replaced ids that can't be logged
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_STATUS_5XX_LOG_LEVEL = logging.INFO  # what made the answer has logged why
DJANGO_STRUCTLOG_USER_ID_FIELD = ""  # finding it out would take a query
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False

# --- web
WEB_THREADS = env.int("WEB_THREADS", default=8, least=1)  # requests that a process answers at once
if 0 < POOL_SIZE < WEB_THREADS:
    raise InvalidSetting(f"WEB_THREADS is {WEB_THREADS}, above DB_POOL_SIZE ({POOL_SIZE}): threads would wait")
SYNC_REQUESTS = WEB_THREADS // 2  # of these, how many may wait for their outcome: threads are left for others
WAITING_REQUESTS = 256  # of a process at once: for the end of a trace, for events
EVENT_STREAMS_PER_PROJECT = 20  # in a process
EVENT_STREAM_SECONDS = 300.0  # then the caller connects again
BODY_SECONDS = 5.0  # and a second for each 256 KiB (memplatform/body_limits.py)
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")  # what /metrics asks for; empty: an address of one's own network
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
STATIC_URL = f"{SUB_PATH}/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # WhiteNoise warns at every start where it is absent
STATICFILES_DIRS = [BASE_DIR / "memplatform" / "static"]
DOCUMENTATION_ROOT = BASE_DIR / "docs" if IS_CHECKOUT else BASE_DIR / "memplatform" / "docs"  # a package has it inside
# With finders, static files need not be collected before the first start.
WHITENOISE_USE_FINDERS = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024  # bytes of a request body
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "console:home"
LOGOUT_REDIRECT_URL = "account_login"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_AGE = 12 * 60 * 60  # a working day
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Stored text is untrusted: if any of it ever escapes the escaping, the browser must not run or load anything from it.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [NONCE],  # of the templates' own script elements
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
if HTTPS := env.bool("HTTPS", default=False):
    SECURE_SSL_REDIRECT = True
    # Monitors ask the process, not the proxy.
    SECURE_REDIRECT_EXEMPT = [rf"^{SUB_PATH[1:]}/?(healthz|readyz|metrics)$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    # Browsers take cookies of these names only from this host, over HTTPS and for all paths.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
    SECURE_HSTS_SECONDS = 31_536_000
# Whether HSTS holds for other hosts of the domain, or for lists in browsers, is for their operator to say.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
PROXIES = env.int("PROXIES", default=1 if HTTPS else 0)  # that add the client's address to X-Forwarded-For

# --- logins
PASSWORD_HASHERS = [
    "memplatform.password_hasher.BoundedArgon2Hasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # of accounts that have not logged in since
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
ACCOUNT_ADAPTER = "apps.projects.logins.AccountAdapter"
ACCOUNT_FORMS = {"login": "apps.projects.logins.PasswordForm"}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_SESSION_REMEMBER = True  # until the end that apps/projects/logins.py sets
ACCOUNT_LOGIN_TIMEOUT = 300  # seconds between password and code
ACCOUNT_RATE_LIMITS = {"login": None, "login_failed": "5/5m/key,50/d/key"}  # of codes; passwords: AccountAdapter
MFA_ADAPTER = "apps.projects.logins.SecondFactorAdapter"
MFA_TOTP_ISSUER = "memplatform"
MFA_TOTP_TOLERANCE = 1  # steps of 30 s before and after, for clocks that differ and codes that were typed slowly
SOCIALACCOUNT_ADAPTER = "apps.projects.logins.SingleSignOnAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True  # a form could not lead to another host (Content-Security-Policy)
# The provider is the operator's own: an account with a mail address that it confirms is that person's.
SOCIALACCOUNT_EMAIL_AUTHENTICATION = SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS = env.single_sign_on("SINGLE_SIGN_ON_URL") if env.str("SINGLE_SIGN_ON_URL", default="") else {}

# --- the API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.api.authentication.HasScope", "apps.api.authentication.ProjectTakesWrites"],
    "DEFAULT_RENDERER_CLASSES": ["apps.api.parsers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "apps.api.openapi.ApiSchema",
    "EXCEPTION_HANDLER": "apps.api.problems.problem_response",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "memplatform",
    "DESCRIPTION": "The memory server for agents: turns in, the few statements worth keeping out.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "SERVERS": [{"url": PUBLIC_URL.rstrip("/") or "/"}],  # relative to the address that the document was read from
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,  # the body of a PATCH is a struct of its own
    "PREPROCESSING_HOOKS": ["apps.api.openapi_document.without_slash"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.api.openapi_examples.with_descriptions",
        "apps.api.openapi_document.for_generators",
        "apps.api.openapi_examples.with_examples",
    ],
    "OAS_VERSION": "3.1.1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
LOGGING = logging_settings(
    level=env.str("LOG_LEVEL", default="INFO", choices=LEVELS),
    form=LogFormat(env.str("LOG_FORMAT", default="text", choices=tuple(LogFormat))),
)
MISSPELT = env.misspelt()  # variables that are set and read by nothing, with what was probably meant
