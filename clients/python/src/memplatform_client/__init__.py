"""Client of memplatform, the memory server for agents."""

from memplatform_client.async_client import AsyncClient
from memplatform_client.client import Client
from memplatform_client.errors import (
    APIError,
    AuthenticationFailed,
    Conflict,
    ConnectionFailed,
    InvalidRequest,
    MemplatformError,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerError,
    WaitTimeout,
)
from memplatform_client.retries import Retries
from memplatform_client.webhooks import InvalidSignature, verify_webhook

__all__ = [
    "APIError",
    "AsyncClient",
    "AuthenticationFailed",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "InvalidRequest",
    "InvalidSignature",
    "MemplatformError",
    "NotFound",
    "PermissionDenied",
    "RateLimited",
    "Retries",
    "ServerError",
    "WaitTimeout",
    "verify_webhook",
]
