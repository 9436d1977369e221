"""Words in the path of a file, folders that somebody named, and the month and year in which it was made."""

from __future__ import annotations

import re

__all__ = ["words_of_path"]

# Folders that cameras, programs and data sets make: they say nothing of what is inside.
_MADE = re.compile(
    r"(dcim|\d{3}[a-z_]{2,5}\w?|camera( roll)?|my pictures|photos?|pictures?|images?|imgs?|fotos?|bilder|screenshots?|"
    r"new folder.*|untitled.*|import\w*|export\w*|temp|tmp|misc|data|files|docs?|documents|train(ing)?|test|val\w*)",
    re.IGNORECASE,
)
_YEAR = r"(?:19|20)\d\d"
_MONTH = re.compile(
    rf"(?<!\d)({_YEAR})[-_. /]?(0[1-9]|1[0-2])(?!\d)|(?<!\d)({_YEAR})[-_.]?(0[1-9]|1[0-2])[-_.]?[0-3]\d(?!\d)"
)
_ONLY_YEAR = re.compile(rf"(?<!\d)({_YEAR})(?!\d)")


def words_of_path(key: str, taken: str = "") -> tuple[list[str], list[str]]:
    """The folders of an item that somebody named, and its month and year: when it was taken, else as the path tells.

    >>> words_of_path("2019/07 Rome/IMG_1.jpg")
    (['07 Rome'], ['2019-07', '2019'])
    >>> words_of_path("DCIM/100CANON/IMG_20210312_1.jpg")
    ([], ['2021-03', '2021'])
    >>> words_of_path("IMG_1.jpg", "2018-12-24T18:00:00")
    ([], ['2018-12', '2018'])
    """
    parts = key.replace("\\", "/").split("/")
    folders = [part for part in parts[:-1] if any(map(str.isalpha, part)) and not _MADE.fullmatch(part)]
    found = _MONTH.match(taken) or _MONTH.search(key)
    if found:
        year, month = found[1] or found[3], found[2] or found[4]
        return folders, [f"{year}-{month}", year]
    only = _ONLY_YEAR.search("/".join((taken, *parts[:-1])))
    return folders, [only[1]] if only else []
