"""Forget an end user who is erased in the imports of the project: files, and whatever names them.

Locks are taken in one order everywhere: imports, then end users. Whoever runs an import holds its row while a chunk is
written, so an erasure locks the imports before it locks the end user.
"""

from uuid import UUID

from django.db.models import Q

from apps.actions.imports.delete_file import forget_files
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState
from apps.traces.models import IdempotentRequest

ERASED = "an end user of it was erased, and its file with them"
FILE_NAME = "file"  # in place of one that names an erased user
LEAST_CHARACTERS = 3  # of a name that is looked for in texts: a shorter one is found in words that mean others


def lock_imports(*, project_id: UUID) -> None:
    """Lock the imports of a project until the transaction ends; to be called before an end user is locked."""
    list(FileImport.objects.select_for_update().filter(project_id=project_id).order_by("id").values_list("id"))


def forget_user(*, project_id: UUID, end_user_id: UUID, user_id: str) -> int:
    """Delete the files that hold an end user, or may hold them, and forget their names; return how many files.

    Must be called after `lock_imports`, in its transaction.
    """
    mine = FileImport.objects.filter(project_id=project_id)
    unread = Q(state__in=(ImportState.UPLOADING, ImportState.CHECKING)) | Q(counts={})
    forgotten = forget_files(mine.filter(unread | Q(users__contains=[end_user_id]), has_file=True), error=ERASED)
    for each in mine.defer("users", "counts"):
        _forget_names(each, user_id)
    if len(user_id) >= LEAST_CHARACTERS:
        answers = IdempotentRequest.objects.filter(project_id=project_id, end_user_id__isnull=True)
        answers.filter(answer__file_name__icontains=user_id).delete()
    return forgotten


def _forget_names(row: FileImport, user_id: str) -> None:
    """Remove the user_id, and names that the import gives the user, from an import."""
    names = {user_id} | {name for name, owner in row.users_by_name.items() if owner == user_id}
    changes = {
        "user_id": "" if row.user_id == user_id else row.user_id,
        "users_by_name": {name: owner for name, owner in row.users_by_name.items() if not {name, owner} & names},
        "file_name": FILE_NAME if _is_named(row.file_name, names) else row.file_name,
        "error": "" if _is_named(row.error, names) else row.error,
        "wait_reason": "" if _is_named(row.wait_reason, names) else row.wait_reason,
        "problems": [each for each in row.problems if not _is_named(f"{each['at']} {each['reason']}", names)],
    }
    if changed := [name for name, value in changes.items() if getattr(row, name) != value]:
        FileImport.objects.filter(id=row.pk).update(**{name: changes[name] for name in changed})


def _is_named(text: str, names: set[str]) -> bool:
    """Return True if a text holds one of the names; a short one only where a problem's place is that end user."""
    folded = text.casefold()
    return any(
        name.casefold() in folded if len(name) >= LEAST_CHARACTERS else f"end user {name} " in f"{text} "
        for name in names
    )
