"""The one door through which our files, a collection's and saved models, reach the disk.

A file is written under a temporary name in its own folder, synced, renamed, and the folder is synced: whenever the
machine stops, the final name holds the whole file or nothing. Every step is a method of ``disk``, so that tests can
put a disk there whose n-th step fails. Files and folders are made for their owner alone, whatever the umask is, unless
a mode is given: then the umask decides what of it others get.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Busy, StoreError

__all__ = [
    "TEMPORARY",
    "append",
    "array_pieces",
    "as_raw",
    "check_output_place",
    "clear_tree",
    "cut",
    "forget",
    "jot",
    "make_folder",
    "make_private",
    "make_public",
    "npy_header",
    "only_one",
    "remove",
    "remove_tree",
    "replace_file",
    "store_errors",
    "sync_files",
    "sync_folders",
    "write_array",
    "write_file",
    "write_output",
]

TEMPORARY = ".tmp"
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
PUBLIC_FILE, PUBLIC_FOLDER = 0o644, 0o755
_PIECE = 16 * 2**20


class Disk:
    """The steps that change a disk, one method each."""

    def put(self, path: Path, pieces: Iterable[bytes | memoryview]) -> None:
        """Put bytes into a new file, without waiting for the disk."""
        with open(path, "wb", opener=private) as file:
            file.writelines(pieces)

    def write(self, path: Path, pieces: Iterable[bytes | memoryview], mode: int = PRIVATE_FILE) -> None:
        """Put bytes into a new file and sync it."""
        with open(path, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            self.sync_file(path, file.fileno())

    def append(self, path: Path, content: bytes) -> None:
        """Put bytes behind what a file holds, or into a new one, and sync it."""
        with open(path, "ab", opener=private) as file:
            file.write(content)
            file.flush()
            self.sync_file(path, file.fileno())

    def cut(self, path: Path, length: int) -> None:
        """Take away what a file holds beyond that many bytes."""
        os.truncate(path, length)

    def sync_file(self, path: Path, handle: int) -> None:
        os.fsync(handle)

    def rename(self, old: Path, new: Path) -> None:
        os.replace(old, new)

    def sync_folder(self, folder: Path) -> None:
        if os.name == "posix":
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def set_mode(self, path: Path, mode: int) -> None:
        path.chmod(mode)

    def mkdir(self, folder: Path, mode: int = PRIVATE_FOLDER) -> None:
        folder.mkdir(mode=mode)

    def unlink(self, path: Path) -> None:
        path.unlink()

    def rmdir(self, folder: Path) -> None:
        folder.rmdir()


def private(path: str, flags: int) -> int:
    """An ``opener`` for ``open``: a file that is made by it is its owner's alone."""
    return os.open(path, flags, PRIVATE_FILE)


disk = Disk()

_SENTENCES = {
    errno.ENOSPC: "the disk is full. Free some space and run the same command again",
    errno.EDQUOT: "your disk quota is used up. Free some space and run the same command again",
    errno.EACCES: "permission denied. Check who owns the folder",
    errno.EPERM: "permission denied. Check who owns the folder",
    errno.EROFS: "the file system is read-only. Copy the collection to a place that can be written",
    errno.EFBIG: "the file would be larger than this system allows",
}


@contextmanager
def store_errors(path: Path, doing: str = "write") -> Iterator[None]:
    """Turn the system's error into a ``StoreError`` that names the path and says what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        reason = _SENTENCES.get(error.errno or 0, f"{error.strerror or error}. Check the disk and run the same command")
        raise StoreError(f"cannot {doing} {path}: {reason}. Nothing that was there before is lost.") from error


def write_file(path: Path, pieces: Iterable[bytes | memoryview], lasts: bool = True) -> None:
    """Write a file so that its name holds all of it or nothing, whatever happens.

    What need not last beyond a failure of the machine, or is made to by ``sync_files`` later, does not wait for the
    disk.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    with store_errors(path):
        try:
            (disk.write if lasts else disk.put)(temporary, pieces)
            disk.rename(temporary, path)
            if lasts:
                disk.sync_folder(path.parent)
        except Exception:
            for name in (temporary, path):  # a name whose rename may not last is worth nothing
                forget(name)
            raise


def append(path: Path, content: bytes) -> None:
    """Write behind what a file holds: all of it, or nothing."""
    with store_errors(path):
        length = path.stat().st_size if path.exists() else None
        try:
            disk.append(path, content)
            if length is None:
                disk.sync_folder(path.parent)
        except Exception:
            cut(path, length or 0)
            raise


def jot(path: Path, content: bytes) -> None:
    """Write behind what a file holds without waiting for the disk; it is fine where that fails."""
    try:
        with open(path, "ab", opener=private) as file:
            file.write(content)
    except OSError:
        pass


def cut(path: Path, length: int) -> None:
    """Take back what was written behind a file; where that fails too, the next opening does it."""
    try:
        disk.cut(path, length)
    except OSError:
        pass


def replace_file(path: Path, temporary: Path, content: bytes, mode: int = PRIVATE_FILE) -> None:
    """Put somebody's file in the place of the one that is there, or make it, with that mode.

    Unlike ``write_file``, a failure leaves what was there. The folder is to be synced afterwards (``sync_folders``).
    """
    with store_errors(path):
        try:
            disk.write(temporary, [content])
            if mode != PRIVATE_FILE:
                disk.set_mode(temporary, mode)
            disk.rename(temporary, path)
        except (Exception, KeyboardInterrupt):
            forget(temporary)
            raise


def check_output_place(path: Path) -> None:
    """Refuse a name at which no file can be: to be asked before long work whose result is to be written there."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise StoreError(f"{path} cannot be written: it is a folder, or its folder does not exist.")


def write_output(path: Path, content: bytes, *, public: bool = False) -> None:
    """Write a list or a page that a person asked for: its name holds the old one or the whole new one, never a part.

    Nobody else on the machine can read it, unless it is ``public``.
    """
    check_output_place(path)
    path = path.absolute()
    temporary = path.with_name(f".{secrets.token_hex(8)}{TEMPORARY}")
    replace_file(path, temporary, content, PUBLIC_FILE if public else PRIVATE_FILE)
    sync_folders([path.parent])


def sync_folders(folders: Iterable[Path]) -> None:
    """Make renames and removals in these folders last."""
    for folder in sorted(set(folders)):
        with store_errors(folder):
            disk.sync_folder(folder)


def sync_files(paths: Iterable[Path]) -> None:
    """Make files last that were written without waiting for the disk."""
    paths = list(paths)
    for path in paths:
        with store_errors(path):
            handle = os.open(path, os.O_RDONLY)
            try:
                disk.sync_file(path, handle)
            finally:
                os.close(handle)
    sync_folders(path.parent for path in paths)


def write_array(path: Path, array: NDArray[Any], lasts: bool = True) -> None:
    """Write one array as ``.npy``."""
    write_file(path, array_pieces(np.ascontiguousarray(array)), lasts)


def array_pieces(array: NDArray[Any]) -> Iterator[bytes | memoryview]:
    """What ``.npy`` holds of an array, piece by piece; in Fortran's order where the array is."""
    is_fortran = array.flags.fnc
    flat = as_raw(array.T if is_fortran else np.asarray(array, order="C"))
    yield npy_header(array.shape, array.dtype, is_fortran)
    for start in range(0, flat.nbytes, _PIECE):
        yield flat[start : start + _PIECE]


def as_raw(array: NDArray[Any]) -> memoryview:
    """The bytes of a C-contiguous array, not copied."""
    raw: Any = array.reshape(-1).view(np.uint8) if array.size else b""
    return memoryview(raw)


def npy_header(shape: tuple[int, ...], dtype: np.dtype[Any], is_fortran: bool = False) -> bytes:
    """The first bytes of a ``.npy`` file of that shape."""
    header = io.BytesIO()
    np.lib.format.write_array_header_2_0(
        header, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": is_fortran, "shape": shape}
    )
    return header.getvalue()


def make_folder(folder: Path, mode: int = PRIVATE_FOLDER) -> None:
    """Make a folder that lasts; nothing happens if it is there."""
    if folder.is_dir():
        return
    with store_errors(folder, "make"):
        try:
            disk.mkdir(folder, mode)
        except FileExistsError:
            if not folder.is_dir():
                raise
        disk.sync_folder(folder.parent)


def make_private(top: Path) -> None:
    """Close a folder and everything in it to others, the folder itself last: where it is closed, all is.

    A file with a second name elsewhere is somebody's original under ``undo``, whose mode is not ours to change. What
    belongs to another user stays as it is.
    """
    for folder, _, names in os.walk(top, topdown=False):
        for path in (*(Path(folder, name) for name in names), Path(folder)):
            status = path.lstat()
            is_folder = stat.S_ISDIR(status.st_mode)
            if not status.st_mode & 0o077 or stat.S_ISLNK(status.st_mode) or (status.st_nlink > 1 and not is_folder):
                continue
            try:
                disk.set_mode(path, PRIVATE_FOLDER if is_folder else PRIVATE_FILE)
            except PermissionError:
                continue


def make_public(top: Path) -> None:
    """Let others read a file, or a folder and everything in it."""
    for path in (top, *top.rglob("*")):
        path.chmod(PUBLIC_FOLDER if path.is_dir() else PUBLIC_FILE)


def remove(path: Path) -> None:
    """Take a file away; one that is gone already is fine."""
    with store_errors(path, "remove"):
        try:
            disk.unlink(path)
        except FileNotFoundError:
            pass


def remove_tree(folder: Path) -> None:
    """Take away a folder of ours and everything in it; links are removed, not followed."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            remove_tree(entry)
        else:
            remove(entry)
    with store_errors(folder, "remove"):
        disk.rmdir(folder)


def clear_tree(folder: Path) -> None:
    """Take away a folder of ours that nobody needs; what somebody still writes there stays."""
    try:
        remove_tree(folder)
    except (OSError, StoreError):
        pass


def forget(path: Path) -> None:
    """Take a file away that nobody needs; it is fine where that fails."""
    try:
        disk.unlink(path)
    except OSError:  # the sweep at the next open will find it
        pass


@contextmanager
def only_one(path: Path, what: str) -> Iterator[None]:
    """Hold this file as the only one who does ``what``; the file goes at the end.

    The kernel keeps the lock, so that whoever dies holds nothing. Raises ``Busy`` where another has it, in this
    process too.
    """
    handle = _held_alone(path, what)
    try:
        yield
    finally:
        forget(path)  # while it is held: nobody else can have taken this very file
        os.close(handle)


def _held_alone(path: Path, what: str) -> int:
    while True:
        with store_errors(path, "lock"):
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_FILE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.exists(path) and os.path.samestat(os.fstat(handle), os.stat(path)):
                with store_errors(path, "lock"):
                    os.ftruncate(handle, 0)
                    os.pwrite(handle, str(os.getpid()).encode(), 0)
                return handle
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode(errors="replace") or "?"
            os.close(handle)
            raise Busy(f"{what} is being done by process {holder}. Wait until that has ended, or stop it.") from None
        except FileNotFoundError:  # gone between two looks
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # whoever had it before took the file away: another one counts now
