"""Mails that were saved as files: their subject, their text and their keywords."""

from __future__ import annotations

from email import message_from_bytes
from email.errors import MessageError
from email.header import Header, decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

from ..keywords import listed
from .encodings import decode_letters
from .pages import decode_page, html_to_text
from .plain import decode_text
from .said import Said

__all__ = ["read_mail"]

_LONGEST_HEADER = 10_000
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""With which programs begin that save a mail as if it were a text."""


def read_mail(content: bytes, longest: int) -> Said:
    """The subject and the words; of a mail that is written in two ways the plain one. Attachments are not read."""
    if content.startswith(_MARKS):
        content = decode_text(content).encode()
    message = message_from_bytes(content)
    words = [word for line in message.get_all("Keywords", ()) for word in listed(_header(line))]
    text = f"{_header(message.get('Subject', ''))}\n{_text(message)}"
    return Said(text[:longest], words, written=_date(message.get("Date", "")))


def _text(part: Message) -> str:
    """The words of a part and of those inside; where they are written in several ways, in the first that has some."""
    if part.is_multipart():
        texts = (_text(one) for one in part.get_payload() if isinstance(one, Message))
        if part.get_content_type() == "multipart/alternative":
            return next((text for text in texts if text.strip()), "")
        return "\n".join(texts)
    content = part.get_payload(decode=True)
    if _is_attached(part) or not isinstance(content, bytes):
        return ""
    charset = part.get_content_charset()
    if part.get_content_type() == "text/html":
        return html_to_text(decode_page(content, charset))
    return decode_text(content, charset or "unknown") if part.get_content_type() == "text/plain" else ""


def _date(value: Any) -> str:
    try:
        return parsedate_to_datetime(str(value)[:_LONGEST_HEADER]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(part.get_filename())


def _header(value: Any) -> str:
    """A header in letters; what cannot be decoded stays as it is."""
    if isinstance(value, Header):  # bytes that no header may hold, though many programs write them
        value = "".join(decode_letters(piece) for piece, _ in decode_header(value) if isinstance(piece, bytes))
    line = str(value)[:_LONGEST_HEADER]
    try:
        pieces = decode_header(line)
    except (ValueError, MessageError):
        return line
    return "".join(
        piece
        if isinstance(piece, str)
        else decode_letters(piece, name)
        if name
        else piece.decode("raw-unicode-escape", "replace")
        for piece, name in pieces
    )
