"""The web application, as scripts/serve.sh runs it: Django behind a reader that takes whole requests."""

from django.conf import settings

from memplatform.embedded.supervisor import Supervisor
from memplatform.serving.buffered_application import BufferedApplication
from memplatform.serving.request_body import BodyLimits
from memplatform.wsgi import application as django_application

# After Django has been set up by the import above.
from memplatform.serving.refusals import refuse  # isort: skip
from apps.pipeline.extraction.patterns import extractor  # noqa: F401  # isort: skip  (compiled now, not in a request)

if settings.DATABASE_IS_EMBEDDED:
    Supervisor(settings.EMBEDDED_DIR).look_in_background()

application = BufferedApplication(
    django_application,
    threads=settings.WEB_THREADS,
    limits=BodyLimits(largest=settings.DATA_UPLOAD_MAX_MEMORY_SIZE, seconds=settings.BODY_SECONDS),
    refuse=refuse,
)
