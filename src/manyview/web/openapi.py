"""The description of the routes, from which the pages' types are made: ``python -m manyview.web.openapi FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .app import build_app

__all__ = ["description"]


def description() -> str:
    """The OpenAPI description as text, the same each time."""
    found = build_app().openapi()
    found["info"]["version"] = "0"  # a release alone changes no route
    return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(description(), encoding="utf-8")
