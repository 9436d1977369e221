"""When, where and with what a picture was taken, by EXIF, XMP, the header of a clip, or the time of the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = ["FILE_TIME", "Capture", "clip_time", "exif_time", "item_fields", "of_exif", "of_xmp", "xmp_time"]

Capture = dict[str, Any]
"""What one place says: times (original, created, digitized, clip), camera, lens and position."""

FILE_TIME = "time of the file"
"""Where a date comes from that neither the file nor a sidecar says."""
_TIMES = (("original", "created"), ("digitized", "clip"))
"""From the best on: the moment the shutter opened, the date somebody gave; then the moment it became data."""
_LONGEST = 100
_DATE = re.compile(
    r"(?P<year>\d{4})(?:[-:](?P<month>\d\d)(?:[-:](?P<day>\d\d)"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s?(?P<offset>Z|[+-]\d\d:?\d\d)?)?)?)?"
)
_ANGLE = re.compile(r"(\d{1,3}(?:\.\d+)?)(?:,(\d{1,2}(?:\.\d+)?))?(?:,(\d{1,2}(?:\.\d+)?))?([NSEW])", re.IGNORECASE)
_SINCE_1904 = datetime(1904, 1, 1, tzinfo=UTC)


def xmp_time(text: str) -> str | None:
    """A date as it is kept, ``2019-06-14T12:03:04.25+02:00`` or its beginning; None where it is none that can be."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    part = found.groupdict()
    numbers = [int(part[name] or low) for name, low in (("year", 0), ("month", 1), ("day", 1))]
    try:
        datetime(*numbers, *(int(part[name] or 0) for name in ("hour", "minute", "second")))  # type: ignore[arg-type]
    except ValueError:
        return None
    kept = "-".join(part[name] for name in ("year", "month", "day") if part[name])
    if part["hour"]:
        kept += f"T{part['hour']}:{part['minute']}:{part['second'] or '00'}"
        fraction = (part["fraction"] or "").rstrip("0")
        kept += f".{fraction}" if fraction else ""
        offset = part["offset"] or ""
        kept += "+00:00" if offset == "Z" else offset if not offset or ":" in offset else f"{offset[:3]}:{offset[3:]}"
    return kept


def exif_time(moment: str, fraction: str = "", offset: str = "") -> str | None:
    """The same from EXIF's three texts: ``2019:06:14 12:03:04``, ``25``, ``+02:00``."""
    plain = xmp_time(moment)
    if plain is None or "T" not in plain:
        return plain
    digits = fraction if re.fullmatch(r"\d{1,9}", fraction) else ""
    where = offset if re.fullmatch(r"Z|[+-]\d\d:\d\d", offset) else ""
    return xmp_time(plain[:19] + (f".{digits}" if digits else "") + where)


def clip_time(seconds: int) -> str | None:
    """The time in the header of a clip, seconds since 1904; cameras without a clock write 0."""
    if not 0 < seconds < 2**36:
        return None
    moment = _SINCE_1904 + timedelta(seconds=seconds)
    return moment.isoformat() if moment.year >= 1970 else None


def of_exif(facts: Mapping[str, Any]) -> Capture:
    """From what EXIF says."""
    found: Capture = {}
    for name in ("original", "digitized"):
        found[name] = exif_time(facts.get(name, ""), facts.get(f"{name}_fraction", ""), facts.get(f"{name}_offset", ""))
    found["camera"] = _maker_and_model(facts.get("make", ""), facts.get("model", ""))
    found["lens"] = _maker_and_model(facts.get("lens_make", ""), facts.get("lens", ""))
    found["position"] = _position(facts.get("latitude"), facts.get("longitude"))
    return found


def of_xmp(values: Mapping[str, str]) -> Capture:
    """From the properties of a packet."""
    return {
        "original": xmp_time(values.get("DateTimeOriginal", "")),
        "created": xmp_time(values.get("DateCreated", "")),
        "digitized": xmp_time(values.get("CreateDate", "")),
        "camera": _maker_and_model(values.get("Make", ""), values.get("Model", "")),
        "lens": _maker_and_model("", values.get("LensModel", "") or values.get("Lens", "")),
        "position": _position(_angle(values.get("GPSLatitude", "")), _angle(values.get("GPSLongitude", ""))),
    }


def item_fields(sidecars: Iterable[Capture], file: Iterable[Capture], mtime_ns: int) -> dict[str, Any]:
    """What is kept of an item. Sidecars come first, for they are where people put things right."""
    beside, inside = list(sidecars), list(file)
    said = [*beside, *inside]
    fields: dict[str, Any] = {}
    times = [
        (place[name], where)
        for names in _TIMES
        for where, places in (("sidecar", beside), ("file", inside))
        for name in names
        for place in places
        if place.get(name)
    ]
    fields["taken"], fields["taken_from"] = times[0] if times else (_file_time(mtime_ns), FILE_TIME)
    for name in ("camera", "lens"):
        if value := _first(said, name):
            fields[name] = value
    if position := _first(said, "position"):
        fields["latitude"], fields["longitude"] = position
    return fields


def _first(said: Iterable[Capture], name: str) -> Any:
    return next((place[name] for place in said if place.get(name)), None)


def _file_time(mtime_ns: int) -> str:
    seconds = min(max(mtime_ns // 10**9, 0), 2**33)  # file systems hold what they are told
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _maker_and_model(make: str, model: str) -> str | None:
    """Both, the maker once: "Canon" and "Canon EOS 80D" are one name."""
    make, model = (" ".join(part.split())[:_LONGEST] for part in (make, model))
    first = make.split(" ")[0].casefold()
    return (model if not make or (first and model.casefold().startswith(first)) else f"{make} {model}").strip() or None


def _angle(text: str) -> float | None:
    """``48,8.25N``, ``48,8,15N`` or ``48.1375N`` as degrees."""
    found = _ANGLE.fullmatch(text.strip())
    if found is None:
        return None
    degrees = sum(float(part or 0) / unit for part, unit in zip(found.groups()[:3], (1, 60, 3600), strict=True))
    return -degrees if found[4].upper() in "SW" else degrees


def _position(latitude: float | None, longitude: float | None) -> tuple[float, float] | None:
    """A place on earth, to a tenth of a metre; 0, 0 is what a receiver writes that knows nothing."""
    if latitude is None or longitude is None or (latitude == 0 and longitude == 0):
        return None
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    return round(latitude, 6), round(longitude, 6)
