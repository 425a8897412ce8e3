"""The embedded PostgreSQL 18 with pgvector: one private server per data folder, without a service to install.

Web, cluster and tests call `up` and never stop the server; `down` is for people. Web and cluster start it again after a
crash (`supervisor.py`).
"""

from memplatform.embedded.errors import (
    BinariesMissing,
    CommandFailed,
    EmbeddedError,
    NotAnswering,
    OwnerUnavailable,
    PathUnusable,
)
from memplatform.embedded.home import socket_directory
from memplatform.embedded.server import ConnectionParams, Status, down, has_crashed, remove, status, up

__all__ = [
    "BinariesMissing",
    "CommandFailed",
    "ConnectionParams",
    "EmbeddedError",
    "NotAnswering",
    "OwnerUnavailable",
    "PathUnusable",
    "Status",
    "down",
    "has_crashed",
    "remove",
    "socket_directory",
    "status",
    "up",
]
