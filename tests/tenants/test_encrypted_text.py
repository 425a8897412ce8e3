"""Secrets that must be used again are only readable with SECRET_KEY."""

from importlib import import_module

import pytest
from django.contrib.auth.models import User
from django.db import connection
from pytest_django import Settings

from apps.tenants.encrypted_text import decrypt, encrypt
from apps.tenants.models import SecondFactor

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
def test_the_column_holds_no_secret_and_the_model_reads_it() -> None:
    factor = SecondFactor.objects.create(user=User.objects.create(username="ana"), secret=SECRET)
    assert stored_secret() != SECRET
    factor.refresh_from_db()
    assert factor.secret == SECRET


@pytest.mark.django_db
def test_the_migration_encrypts_what_was_in_the_clear_and_goes_back() -> None:
    factor = SecondFactor.objects.create(user=User.objects.create(username="ana"), secret="x")
    with connection.cursor() as cursor:
        cursor.execute("update tenants_secondfactor set secret = %s", [SECRET])
    migration = import_module("apps.tenants.migrations.0009_encrypt_secrets")
    with connection.schema_editor() as editor:
        migration.encrypt_secrets(None, editor)
        factor.refresh_from_db()
        assert (factor.secret, stored_secret() != SECRET) == (SECRET, True)
        migration.decrypt_secrets(None, editor)
    assert stored_secret() == SECRET


def stored_secret() -> str:
    with connection.cursor() as cursor:
        cursor.execute("select secret from tenants_secondfactor")
        (stored,) = cursor.fetchone()
    return str(stored)
