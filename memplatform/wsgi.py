"""The web application, as a production server loads it."""

import os

from django.core.wsgi import get_wsgi_application

from memplatform.database import ensure_database

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
ensure_database()
application = get_wsgi_application()
