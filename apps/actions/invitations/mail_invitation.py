"""Send the link of an invitation by mail."""

import smtplib

from django.core.mail import EmailMessage
from django.db import connection

from apps.tenants.models import Invitation


class MailNotSent(Exception):
    """The mail server has not taken the mail."""


def mail_invitation(*, invitation: Invitation, link: str, inviter: str) -> None:
    """Send the link, without holding a database connection. Raises MailNotSent."""
    name = " ".join(invitation.project.name.split())
    text = (
        f"{' '.join(inviter.split())} invites you to the project {name} of memplatform, as {invitation.role}.\n\n"
        f"{link}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC. Whoever has it can use it.\n"
    )
    mail = EmailMessage(f"[{name}] Invitation to memplatform", text, to=[invitation.email])
    if not connection.in_atomic_block:
        connection.close()
    try:
        mail.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailNotSent(type(error).__name__) from error
