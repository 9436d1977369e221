"""Documents: what they say, and the keywords that stand in them."""

from .plain import decode_text
from .reader import LARGEST, LONGEST_TEXT, Document, DocumentReader

__all__ = ["LARGEST", "LONGEST_TEXT", "Document", "DocumentReader", "decode_text"]
