"""How a browser is told the gallery's address, which is a secret that everybody could read in a list of processes.

The browser is given the name of a small file instead. Only its owner can read it, and it leads on to the address.
"""

from __future__ import annotations

import html
import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["Invitation"]

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={address}">
<title>manyview</title>
<p><a href="{address}">Open the gallery</a></p>
</html>
"""


class Invitation:
    """A page that leads to an address, in a folder that nobody else can enter. ``remove`` it when it was used."""

    def __init__(self, address: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="manyview-")  # of mode 0700
        self.path = os.path.join(self._folder, "open.html")
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(_PAGE.format(address=html.escape(address)))

    @property
    def url(self) -> str:
        """What the browser is given."""
        return Path(self.path).as_uri()

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
