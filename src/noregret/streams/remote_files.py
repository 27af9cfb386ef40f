"""Files in S3, Google Cloud Storage and HDFS, through Arrow's file systems.

Ranges of bytes are read on their own, so that workers fetch their parts only. Credentials come from
where the owner's tools look for them, such as AWS_ACCESS_KEY_ID or AWS_PROFILE, never from an
address.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import IO, Any, NamedTuple

from noregret.errors import NoRegretError, WrongUsage, foreign
from noregret.streams.addresses import STORES, scheme_of, settings_in

S3_ENDPOINTS, S3_REGIONS = (
    ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    (
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
    ),
)
SETTINGS = ("region", "endpoint", "anonymous")
# Seconds to connect and to wait for an answer.
CONNECT_SECONDS, ANSWER_SECONDS = 10, 60
WRITE_SO = "write s3://bucket/folder/file.csv?region=…&endpoint=…, where both may be left out"
DENIED = ("ACCESS_DENIED", "403", "UNAUTHENTICATED", "PERMISSION_DENIED", "INVALID_ACCESS_KEY_ID")
CREDENTIALS = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; a public bucket is read"
    " with ?anonymous=true",
    "gs": "log in by gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS;"
    " a public bucket is read with ?anonymous=true",
    "hdfs": "ask for access, or log in by kinit",
}


class Parts(NamedTuple):
    """The parts of an address: the host or bucket, the path that its file system knows."""

    scheme: str
    host: str
    path: str
    settings: tuple[tuple[str, str], ...]


def parts_of(address: str) -> Parts:
    """Return the parts of an address; one with credentials is refused, and not shown."""
    scheme = STORES[scheme_of(address) or ""]
    inner, _, query = address.partition("://")[2].partition("?")
    settings, (host, _, path) = settings_in(query), inner.partition("/")
    if "@" in host or any(name not in SETTINGS for name, _ in settings):
        what = "credentials, or an unknown setting, in the address" if "@" in host else ""
        other = ", ".join(name for name, _ in settings if name not in SETTINGS)
        what = what or f"unknown settings in the address: {other}"
        raise WrongUsage(f"{what} of a file ({scheme}://…)", (CREDENTIALS[scheme], WRITE_SO))
    if not path or not (host or scheme == "hdfs"):
        raise WrongUsage(f"not the address of a file: {address}", WRITE_SO)
    return Parts(scheme, host, f"/{path}" if scheme == "hdfs" else inner, tuple(settings))


@lru_cache(maxsize=64)
def file_system(scheme: str, host: str, settings: tuple[tuple[str, str], ...]) -> Any:
    """Return the file system of an address."""
    from pyarrow import fs

    given = dict(settings)
    anonymous = given.get("anonymous", "").lower() in ("1", "true", "yes")
    if scheme == "hdfs":
        name, _, port = host.partition(":")
        return fs.HadoopFileSystem(name or "default", int(port or 0))
    if scheme == "gs":
        end = given.get("endpoint") or os.environ.get("STORAGE_EMULATOR_HOST") or ""
        kind, _, at = end.rpartition("://")
        place = {"endpoint_override": at, "scheme": kind or "https"} if at else {}
        return fs.GcsFileSystem(anonymous=anonymous, **place)
    endpoint = given.get("endpoint") or first_set(S3_ENDPOINTS)
    region = given.get("region") or first_set(S3_REGIONS)
    if region is None and endpoint is None:
        region = fs.resolve_s3_region(host)
    kind, _, at = (endpoint or "").rpartition("://")
    return fs.S3FileSystem(
        anonymous=anonymous,
        region=region,
        scheme=kind or "https",
        endpoint_override=at or None,
        connect_timeout=CONNECT_SECONDS,
        request_timeout=ANSWER_SECONDS,
        force_virtual_addressing=False,
    )


def first_set(names: tuple[str, ...]) -> str | None:
    """Return the first environment variable that is set, if any."""
    return next((value for name in names if (value := os.environ.get(name))), None)


@contextmanager
def explaining(address: str) -> Iterator[None]:
    """Raise errors of a store as errors that name the file and the cure."""
    try:
        yield
    except (FileNotFoundError, NoRegretError):
        raise
    except (OSError, ValueError) as error:
        scheme = STORES[scheme_of(address) or ""]
        told = foreign(error)  # Arrow's errors have no fields that tell them apart
        if "libhdfs" in told or "libjvm" in told:
            cure = "install Java and Hadoop's client, and set JAVA_HOME, HADOOP_HOME and CLASSPATH"
            raise NoRegretError(f"HDFS cannot be used here: {told}", cure, file=address) from None
        if any(word in told for word in DENIED):
            what = "access is denied: there are no credentials for it, or they do not suffice"
            raise NoRegretError(what, CREDENTIALS[scheme], file=address) from None
        raise NoRegretError(f"it cannot be read: {told}", file=address) from None


class RemoteFile:
    """A file in a store that is open for reading: the same interface as ``LocalFile``."""

    regular = True

    def __init__(self, address: str) -> None:
        self.address = address
        self.file = binary(address)
        with explaining(address):
            self.known_size = int(self.file.size())

    def size(self) -> int:
        """Return the number of bytes: an object does not change while it is read."""
        return self.known_size

    def read(self, most: int) -> bytes:
        """Return some of the next bytes."""
        with explaining(self.address):
            return bytes(self.file.read(most))

    def read_at(self, place: int, size: int) -> bytes:
        """Return bytes at an offset; several threads may do so."""
        size = min(size, self.known_size - place)
        if size <= 0:
            return b""
        with explaining(self.address):
            return bytes(self.file.read_at(size, place))

    def seek(self, offset: int) -> int:
        """Go on at an offset."""
        return int(self.file.seek(offset))

    def stream(self) -> IO[bytes]:
        """Return the file as Python's, for what decompresses it."""
        file: IO[bytes] = binary(self.address)
        return file

    def is_ready(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Close it."""
        self.file.close()


def binary(address: str) -> Any:
    """Open a file in a store, as Arrow's file."""
    found = parts_of(address)
    with explaining(address):
        store = file_system(found.scheme, found.host, found.settings)
        try:
            return store.open_input_file(found.path)
        except FileNotFoundError:
            raise absent(address) from None
        except OSError:
            if not store.get_file_info(found.path).is_file:  # such as a folder
                raise absent(address) from None
            raise


def absent(address: str) -> FileNotFoundError:
    """Return the error for a file that is not there."""
    return FileNotFoundError(errno.ENOENT, "no such file in this store", address)


@lru_cache(maxsize=4096)
def size_of(address: str) -> int:
    """Return the bytes of a file, as they were when they were asked for first."""
    with binary(address) as file:
        return int(file.size())


def stamp_of(address: str) -> tuple[int, int]:
    """Return the size of a file, and when it was changed, in nanoseconds."""
    found = parts_of(address)
    with explaining(address):
        info = file_system(found.scheme, found.host, found.settings).get_file_info(found.path)
    return int(info.size or 0), int(info.mtime_ns or 0)


def matching(address: str) -> list[str]:
    """Return the addresses of the files that match a pattern with ``*``, in alphabetical order."""
    from pyarrow import fs

    found = parts_of(address)
    wanted = found.path.split("/")
    plain = next(k for k, name in enumerate(wanted) if "*" in name)
    if plain == 0:
        raise WrongUsage(f"the bucket must be named: {address}", WRITE_SO)
    deep = plain < len(wanted) - 1
    with explaining(address):
        store = file_system(found.scheme, found.host, found.settings)
        folder = fs.FileSelector("/".join(wanted[:plain]), allow_not_found=True, recursive=deep)
        there = sorted(info.path for info in store.get_file_info(folder) if info.is_file)
    query = address.partition("?")[1] + address.partition("?")[2]
    before = f"{address.partition('://')[0]}://" + (found.host if found.scheme == "hdfs" else "")
    fits = [
        path
        for path in there
        if len(path.split("/")) == len(wanted) and all(map(fnmatchcase, path.split("/"), wanted))
    ]
    return [f"{before}{path}{query}" for path in fits]
