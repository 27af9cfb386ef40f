"""API keys: who may do what with which model.

A key is 32 random bytes, so a plain digest of it is enough to keep: it cannot be guessed.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from noregret.service.errors import ServiceError

PREDICT, LABEL, ADMIN = "predict", "label", "admin"
SCOPES = (PREDICT, LABEL, ADMIN)
PREFIX = "sha256:"


class NoKey(ServiceError):
    """Raised for a request without a valid key."""

    status = 401


class Forbidden(ServiceError):
    """Raised for a request that a key does not allow."""

    status = 403


class Key(NamedTuple):
    """A key as it is kept.

    Parameters
    ----------
    name
        Its name.
    models
        The models that it is for; empty for all.
    may
        What it allows: of ``predict``, ``label`` and ``admin``.
    """

    name: str
    models: tuple[str, ...]
    may: tuple[str, ...]


class Keys:
    """The keys of a server, by their digests; without any, everything is allowed.

    Examples
    --------
    >>> key, digest = new_key()
    >>> keys = Keys({digest: Key("shop", ("default",), ("predict",))})
    >>> keys.check(f"Bearer {key}", "default", "predict")
    >>> keys.check(f"Bearer {key}", "default", "admin")
    Traceback (most recent call last):
    noregret.app.commands.serve.keys.Forbidden: key 'shop' does not allow admin of model 'default'
    """

    def __init__(self, keys: Mapping[str, Key]) -> None:
        self.keys = dict(keys)
        self.guarded = bool(self.keys)

    def check(self, authorization: str | None, model: str | None, *scopes: str) -> None:
        """Raise an error unless a request may do these things with a model, None for all."""
        if not self.keys:
            return
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key:
            raise NoKey("this server needs a key", "send the header Authorization: Bearer KEY")
        found = self.keys.get(digest_of(key.strip()))
        if found is None:
            raise NoKey("this key is not known here")
        if found.models and model not in found.models:
            which = "all models" if model is None else f"model {model!r}"
            raise Forbidden(f"key {found.name!r} is not for {which}")
        for scope in scopes:
            if scope not in found.may:
                which = "" if model is None else f" of model {model!r}"
                raise Forbidden(f"key {found.name!r} does not allow {scope}{which}")


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
