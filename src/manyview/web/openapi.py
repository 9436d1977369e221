"""The description of the routes, from which the pages' types are made: ``python -m manyview.web.openapi FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .app import build_app

__all__ = ["description", "description_text"]


def description() -> dict[str, Any]:
    """The OpenAPI description. Every route has the same errors: they are described once and referred to."""
    found = build_app().openapi()
    found["info"]["version"] = "0"  # a release alone changes no route
    errors = found["components"].setdefault("responses", {})
    for route in (route for methods in found["paths"].values() for route in methods.values()):
        for status, answer in route["responses"].items():
            name = f"Error{status}"
            if int(status) >= 400 and errors.setdefault(name, answer) == answer:
                route["responses"][status] = {"$ref": f"#/components/responses/{name}"}
    return found


def description_text() -> str:
    """The same as text, letter by letter the same each time."""
    return json.dumps(description(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(description_text(), encoding="utf-8")
