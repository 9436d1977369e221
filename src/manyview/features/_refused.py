"""How the code that opens files says that one cannot be used."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """A file that cannot be used: one of ``decode.REASONS``, and a sentence for the person."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(reason, sentence)
        self.reason, self.sentence = reason, sentence
