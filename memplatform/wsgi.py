"""The web application, as a production server loads it."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from memplatform.database import ensure_database, limit_statements

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
ensure_database()
limit_statements(seconds=settings.DB_REQUEST_SECONDS)
application = get_wsgi_application()
