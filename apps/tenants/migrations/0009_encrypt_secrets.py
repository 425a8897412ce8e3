"""Encrypt the secrets of second factors that were stored in the clear."""

from collections.abc import Callable

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from apps.tenants.encrypted_text import decrypt, encrypt


def _rewrite(schema_editor: BaseDatabaseSchemaEditor, change: Callable[[str], str]) -> None:
    # In SQL, because the model encrypts and decrypts by itself.
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("select user_id, secret from tenants_secondfactor for update")
        for user_id, secret in cursor.fetchall():
            cursor.execute("update tenants_secondfactor set secret = %s where user_id = %s", [change(secret), user_id])


def encrypt_secrets(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Encrypt under SECRET_KEY."""
    _rewrite(schema_editor, encrypt)


def decrypt_secrets(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Store the secrets in the clear again."""
    _rewrite(schema_editor, decrypt)


class Migration(migrations.Migration):
    dependencies = [("tenants", "0008_encrypted_secret_column")]

    operations = [migrations.RunPython(encrypt_secrets, decrypt_secrets)]
