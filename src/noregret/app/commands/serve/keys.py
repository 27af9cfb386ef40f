"""API keys: who may do what with which model.

A key is 32 random bytes, so a plain digest of it is enough to keep: it cannot be guessed.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from noregret.service.errors import ServiceError

PREDICT, LABEL, ADMIN = "predict", "label", "admin"
# The metrics, which any key for all models may see, and nothing else.
METRICS = "metrics"
SCOPES = (PREDICT, LABEL, ADMIN, METRICS)
PREFIX = "sha256:"
# In place of a model, where a key for some model is enough.
ANY = "\0"


class NoKey(ServiceError):
    """Raised for a request without a valid key."""

    status = 401


class Forbidden(ServiceError):
    """Raised for a request that a key does not allow."""

    status = 403


class TooMany(ServiceError):
    """Raised for a request above the rate of a key.

    Parameters
    ----------
    rate
        Examples per second.
    seconds
        The time until the next may come.
    """

    status = 429

    def __init__(self, rate: float, seconds: int) -> None:
        super().__init__(f"more than {rate:g} examples per second", f"try again in {seconds} s")
        self.seconds = seconds


class Bucket:
    """A limit on the rate of examples: up to those of one second at once, or one batch.

    Parameters
    ----------
    rate
        Examples per second.
    clock
        Returns the time in seconds.

    Examples
    --------
    >>> now = [0.0]
    >>> bucket = Bucket(2.0, lambda: now[0])
    >>> bucket.take(), bucket.take()
    (None, None)
    >>> bucket.take()
    Traceback (most recent call last):
    noregret.app.commands.serve.keys.TooMany: more than 2 examples per second: try again in 1 s
    >>> now[0] = 0.5
    >>> bucket.take()
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.clock, self.most = rate, clock, max(rate, 1.0)
        self.left, self.time = self.most, clock()

    def take(self) -> None:
        """Take one example, or raise TooMany."""
        now = self.clock()
        self.left = min(self.most, self.left + (now - self.time) * self.rate)
        self.time = now
        if self.left < 1.0:
            raise TooMany(self.rate, math.ceil((1.0 - self.left) / self.rate))
        self.left -= 1.0

    def charge(self, count: int) -> None:
        """Take more examples, of a batch whose first was taken; the next must wait for them."""
        self.left -= count


class Key(NamedTuple):
    """A key as it is kept.

    Parameters
    ----------
    name
        Its name.
    models
        The models that it is for; empty for all.
    may
        What it allows: of ``predict``, ``label``, ``admin`` and ``metrics``.
    rate
        Examples per second; None for the rate of the server.
    """

    name: str
    models: tuple[str, ...]
    may: tuple[str, ...]
    rate: float | None = None


class Keys:
    """The keys of a server, by their digests; without any, everything is allowed.

    Parameters
    ----------
    keys
        The keys.
    rate
        Examples per second of each key that has no rate of its own, without keys of all clients
        together; None for no limit.

    Examples
    --------
    >>> key, digest = new_key()
    >>> keys = Keys({digest: Key("shop", ("default",), ("predict",))})
    >>> keys.check(f"Bearer {key}", "default", "predict")
    >>> keys.check(f"Bearer {key}", "default", "admin")
    Traceback (most recent call last):
    noregret.app.commands.serve.keys.Forbidden: key 'shop' does not allow admin of model 'default'
    """

    def __init__(self, keys: Mapping[str, Key], rate: float | None = None) -> None:
        self.keys = dict(keys)
        rates = {digest: key.rate or rate for digest, key in self.keys.items()} or {"": rate}
        self.buckets = {digest: Bucket(each) for digest, each in rates.items() if each is not None}
        self.guarded = bool(self.keys or self.buckets)

    def check(self, authorization: str | None, model: str | None, *scopes: str) -> None:
        """Raise an error unless a request may do these things.

        Parameters
        ----------
        authorization
            The header of that name.
        model
            The name of the model; None for all models, ``ANY`` for any.
        *scopes
            What it is to do.
        """
        if not self.keys:
            if self.buckets:
                self.buckets[""].take()
            return
        digest = sent_digest(authorization)
        found = self.keys.get(digest)
        if found is None:
            raise NoKey("this key is not known here")
        if digest in self.buckets:
            self.buckets[digest].take()
        if found.models and model not in (*found.models, ANY):
            which = "all models" if model is None else f"model {model!r}"
            raise Forbidden(f"key {found.name!r} is not for {which}")
        for scope in scopes:
            if scope not in found.may:
                which = "" if model is None else f" of model {model!r}"
                raise Forbidden(f"key {found.name!r} does not allow {scope}{which}")

    def visible(self, authorization: str | None, models: Iterable[str]) -> list[str]:
        """Return those of some models that a request may know of."""
        if not self.keys:
            return list(models)
        found = self.keys.get(sent_digest(authorization) if authorization else "")
        if found is None:
            return []
        return [name for name in models if not found.models or name in found.models]

    def charge(self, authorization: str | None, count: int) -> None:
        """Count further examples of a request that was checked."""
        if self.buckets:
            bucket = self.buckets.get(sent_digest(authorization) if self.keys else "")
            if bucket is not None:
                bucket.charge(count)


def sent_digest(authorization: str | None) -> str:
    """Return the digest of the key that a request sends, or raise NoKey."""
    scheme, _, key = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise NoKey("this server needs a key", "send the header Authorization: Bearer KEY")
    return digest_of(key.strip())


def new_key() -> tuple[str, str]:
    """Return a new key, and the digest to keep."""
    key = secrets.token_urlsafe(32)
    return key, digest_of(key)


def digest_of(key: str) -> str:
    """Return the digest of a key."""
    return PREFIX + sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def stanza(name: str, digest: str, models: Sequence[str]) -> str:
    """Return the lines of a configuration that allow a key to predict and to label."""
    listed = ", ".join(f'"{model}"' for model in models)
    return (
        f'[[keys]]\nname = "{name}"\ndigest = "{digest}"\nmodels = [{listed}]\n'
        f'may = ["{PREDICT}", "{LABEL}"]'
    )
