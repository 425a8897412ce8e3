"""Secrets that must be used again are only readable with SECRET_KEY."""

import pytest
from django.db import connection
from pytest_django import Settings

from apps.alerts.models import AlertRecipients
from apps.tenants.encrypted_text import decrypt, encrypt
from apps.tenants.models import Project

SECRET = "JBSWY3DPEHPK3PXP"


def test_a_text_is_read_under_the_key_that_encrypted_it(settings: Settings) -> None:
    stored = encrypt(SECRET)
    assert SECRET not in stored
    assert decrypt(stored) == SECRET
    assert encrypt(SECRET) != stored  # equal secrets are not recognised

    former = settings.SECRET_KEY
    settings.SECRET_KEY = "another key of at least thirty-two characters"
    assert decrypt(stored) == ""
    settings.SECRET_KEY_FALLBACKS = [former]
    assert decrypt(stored) == SECRET


def test_an_empty_text_stays_empty() -> None:
    assert (encrypt(""), decrypt(""), decrypt("no ciphertext")) == ("", "", "")


@pytest.mark.django_db
def test_the_column_holds_no_secret_and_the_model_reads_it(project: Project) -> None:
    recipients = AlertRecipients.objects.create(project=project, webhook_secret=SECRET)
    assert stored_secret() != SECRET
    recipients.refresh_from_db()
    assert recipients.webhook_secret == SECRET


def stored_secret() -> str:
    with connection.cursor() as cursor:
        cursor.execute("select webhook_secret from alerts_alertrecipients")
        (stored,) = cursor.fetchone()
    return str(stored)
