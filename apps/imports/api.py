"""Endpoints /v1/imports and /v1/project/export, for keys with scope admin."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.parsers import BytesParser
from apps.api.problems import Code
from apps.api.serializers import OPTIONAL, ApiModelSerializer, ApiSerializer, EnumField, NameField, PageQuery
from apps.api.validation import read_bytes
from apps.api.viewsets import ApiViewSet, operation
from apps.imports import services
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
from apps.imports.transfers.export_project import export_project
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_name

MOST_USERS = 10_000


class ImportProblemSerializer(ApiSerializer):
    """A place of the file that is not imported, and why."""

    at = serializers.CharField()
    reason = serializers.CharField()


_USER_ID = {"type": "string", "minLength": 1, "maxLength": 255}


@extend_schema_field({"type": "object", "additionalProperties": _USER_ID, "maxProperties": MOST_USERS})
class UsersField(serializers.DictField):
    """A user_id for each name in a file."""

    child = NameField()

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Return the names. Raises ValidationError, and BadInput for a name in the file."""
        users: dict[str, str] = super().to_internal_value(data)
        if len(users) > MOST_USERS:
            raise ValidationError(f"has more than {MOST_USERS:,} names")
        return {checked_name(name, at="/users"): user_id for name, user_id in users.items()}


@extend_schema_serializer(component_name="ImportBody")
class NewImportSerializer(ApiSerializer):
    """A file to import. Without `format` it is recognised.

    `user_id` is the end user of what the file names none for; `users` gives a user_id for a name in the file: an
    account of an export, or a user_id of another product.
    """

    file_name = NameField()
    format = EnumField(ImportFormat, **OPTIONAL)
    user_id = NameField(**OPTIONAL)
    users = UsersField(default=dict)


class ImportSerializer(ApiModelSerializer):
    """An import: what its check has found, and how far it is.

    `chunks_done` of `chunks_total` are imported. `problems` are the first ones of `counts.problems`.
    """

    id = serializers.CharField(source="shown_id")
    status = EnumField(ImportState, source="state")
    format = serializers.SerializerMethodField()
    counts = serializers.DictField()
    problems = ImportProblemSerializer(many=True)
    chunks_total = serializers.IntegerField(source="chunks")
    chunks_done = serializers.IntegerField(source="position")
    done = serializers.DictField(child=serializers.IntegerField())

    class Meta:
        model = FileImport
        fields = [
            *("id", "status", "file_name", "format", "user_id", "size", "has_file", "counts", "problems"),
            *("chunks_total", "chunks_done", "done", "wait_reason", "error", "created_at", "started_at"),
            "finished_at",
        ]

    @extend_schema_field(EnumField(ImportFormat, allow_null=True))
    def get_format(self, row: FileImport) -> str | None:
        """Return the format, None if it is not recognised yet."""
        return row.format or None


class ImportViewSet(ApiViewSet):
    """The imports of the project."""

    prefix = Prefix.IMPORT
    queryset = FileImport.objects.defer("users")
    lookup_url_kwarg = "import_id"
    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PUT", "DELETE"), Scope.ADMIN)

    @operation("list_imports", summary="List imports", query=PageQuery, answers={200: ImportSerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List imports, newest first."""
        return self.answer_page(ImportSerializer, self.get_queryset())

    @operation(
        "request_import",
        summary="Request an import",
        body=NewImportSerializer,
        answers={201: ImportSerializer},
        problems=[Code.CONFLICT],
        example={"file_name": "conversations.json", "user_id": "kim"},
        is_repeatable=True,
    )
    def create(self, request: Request) -> Response:
        """Announce a file; it is sent then, which begins its check, and `start` imports it."""
        body = self.valid(NewImportSerializer)
        wanted = FileImport(
            project_id=self.caller.project_id,
            file_name=body["file_name"],
            format=body["format"] or "",
            user_id=body["user_id"] or "",
            users_by_name=body["users"],
            api_key_id=self.caller.api_key_id,
        )
        return self.answer(ImportSerializer, services.request_import(request=wanted), status=201)

    @operation("read_import", summary="Read an import", answers={200: ImportSerializer}, problems=[Code.NOT_FOUND])
    def retrieve(self, request: Request, import_id: str) -> Response:
        """Read what the check has found, the progress, and the report."""
        return self.answer(ImportSerializer, self.get_object())

    @operation(
        "start_import",
        summary="Start or resume an import",
        answers={200: ImportSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    @action(methods=["post"], detail=True)
    def start(self, request: Request, import_id: str) -> Response:
        """Import the file in the background; an import that was cancelled or has failed goes on where it was."""
        started = services.start_import(**self.named, api_key_id=self.caller.api_key_id)
        return self.answer(ImportSerializer, started)

    @operation(
        "cancel_import",
        summary="Cancel an import",
        answers={200: ImportSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    @action(methods=["post"], detail=True)
    def cancel(self, request: Request, import_id: str) -> Response:
        """Stop an import; what it has imported stays. Repeating it changes nothing."""
        return self.answer(ImportSerializer, services.cancel_import(**self.named))

    @operation(
        "put_import_file",
        summary="Send the file of an import",
        body=bytes,
        answers={200: ImportSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_REQUEST],
    )
    @action(methods=["put"], detail=True, parser_classes=[BytesParser])
    def file(self, request: Request, import_id: str) -> Response:
        """Store the whole file, of at most 100 MB, and count in the background what it would bring.

        Nothing of it is imported. After a check that failed or was cancelled, the file may be sent again.
        """
        return self.answer(ImportSerializer, services.store_file(**self.named, content=read_bytes(request)))

    @operation(
        "delete_import_file",
        summary="Delete the file of an import",
        answers={200: ImportSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    @file.mapping.delete
    def delete_file(self, request: Request, import_id: str) -> Response:
        """Delete the file now instead of when its time is up; an import that is not done is cancelled for good."""
        return self.answer(ImportSerializer, services.delete_import_file(**self.named))


class ProjectViewSet(ApiViewSet):
    """All of the project."""

    scopes = dict.fromkeys(("GET", "HEAD"), Scope.ADMIN)

    @operation("export_project", summary="Export the project", answers={(200, "application/jsonl"): OpenApiTypes.STR})
    def export(self, request: Request) -> StreamingHttpResponse:
        """Return the project as lines of JSON, to load in another installation; without keys and accounts."""
        lines = export_project(project_id=self.caller.project_id)
        return StreamingHttpResponse(lines, content_type="application/jsonl")
