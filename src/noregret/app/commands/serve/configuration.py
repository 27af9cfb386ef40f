"""The models and keys to serve: from the options of the command, or from a file in TOML."""

from __future__ import annotations

import math
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from noregret.app.commands.serve.keys import PREFIX, SCOPES, Key
from noregret.app.commands.serve.row_options import settings_of
from noregret.base.model_file import load
from noregret.base.registry import built, find
from noregret.errors import NoRegretError, WrongUsage
from noregret.linear.learner import Learner
from noregret.service.database import is_address
from noregret.service.errors import OtherRows
from noregret.service.service import Service
from noregret.streams import prepared

DEFAULT = "default"
# What can be served.
SERVED = (
    "serve a model of one learner, which ‘noregret run --model’ without --shards and --group, or"
    " learner.save, wrote"
)
# The fact of a journal that is the name of the outcome.
TARGET = "target"
# Fields of a model and of a key, with the types of their values.
MODEL_FIELDS = {
    "learner": str,
    "model": str,
    "store": str,
    "target": str,
    "ttl": (int, float),
    "params": dict,
    "retain": int,
    "source": (str, list),
    "rows": dict,
}
KEY_FIELDS = {
    "name": str,
    "digest": str,
    "models": list,
    "may": list,
    "rate": (int, float),
}


@dataclass
class Model:
    """A model to serve.

    Parameters
    ----------
    store
        The file of its journal, or the address of a PostgreSQL schema.
    learner, params
        The learner and its parameters; None for the one in the store.
    target
        The name of the outcome in exported rows; None for that in the store, or ``y``.
    ttl
        Seconds within which a label must come.
    retain
        The number of labels to keep; None for all.
    source
        Addresses of message brokers that feed it.
    rows
        Options of ``streams.prepared`` if it takes raw rows; None if it takes features.
    model
        The file of a trained model to begin with, in place of a learner.
    """

    store: str
    learner: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    target: str | None = None
    ttl: float | None = None
    retain: int | None = None
    source: str | list[str] = field(default_factory=list)
    rows: dict[str, Any] | None = None
    model: str | None = None

    @property
    def sources(self) -> list[str]:
        """The addresses of its message brokers."""
        return [self.source] if isinstance(self.source, str) else self.source

    def open(self) -> Service:
        """Open the journal, or begin one."""
        given = None if self.model is None else self.trained(self.model)
        if self.model is not None and (self.learner or self.params or self.rows is not None):
            what = "a model is given, and a learner or options of rows"
            raise WrongUsage(what, "leave these out: the model has them")
        if self.learner is None and self.rows is not None:
            raise WrongUsage("options of rows are given without a learner", "name the learner")
        if self.learner is None and self.params:
            raise WrongUsage("parameters are given without a learner", "name the learner")
        if self.learner is not None:
            try:
                given = built(find(self.learner, "learners"), self.params)
                if self.rows is not None:
                    # As ``noregret run`` reads JSON lines.
                    given = prepared(given, **{"intercept": True} | self.rows)
            except (TypeError, ValueError) as error:
                raise WrongUsage(str(error)) from None
        if given is None and not is_address(self.store) and not Path(self.store).exists():
            raise WrongUsage(
                f"{self.store}: there is no journal yet", "name a learner to begin one"
            )
        try:
            return Service(given, self.store, ttl=self.ttl, retain=self.retain)
        except OtherRows as error:
            rows = "leave out --raw and other options of rows (in the file: rows)"
            if error.kept is not None:
                rows = f"give {settings_of(error.kept)}"
            resume = "or leave out the learner to resume"
            if not is_address(self.store):
                resume += f": noregret serve --store {shlex.quote(self.store)}"
            raise OtherRows(
                error.kept, f"{rows}, {resume}", file=error.file or self.store
            ) from None
        except (TypeError, ValueError) as error:
            if isinstance(error, NoRegretError):
                raise
            raise WrongUsage(str(error)) from None

    def trained(self, path: str) -> Learner:
        """Return the trained model of a file; its target is the default name of the outcome."""
        given = load(path)
        if not isinstance(given, Learner):
            what = f"a model of {getattr(given, 'name', type(given).__name__)}"
            raise NoRegretError(f"{what}, which cannot be served", SERVED, file=path)
        prepare = given._entry.prepare
        if self.target is None and prepare is not None:
            self.target = prepare.options.target
        return given

    def target_in(self, service: Service) -> str:
        """Return the name of the outcome, which the journal keeps for the next start."""
        journal = service.journal
        kept = journal.fact(TARGET)
        if self.target is None or self.target == kept:
            return kept or "y"
        journal.begin()
        journal.note(TARGET, self.target)
        journal.commit()
        return self.target


@dataclass
class Configuration:
    """Models by name, keys by digest, and examples per second of keys without a rate."""

    models: dict[str, Model]
    keys: dict[str, Key] = field(default_factory=dict)
    rate: float | None = None


def read(path: str) -> Configuration:
    """Read a configuration, or raise an error that names the field."""
    try:
        found = tomllib.loads(Path(path).read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NoRegretError(f"not TOML: {error}", file=path) from None
    try:
        checked(found, {"models": dict, "keys": list, "rate": (int, float)}, "")
        models = found.get("models", {})
        if not models:
            raise NoRegretError("there is no model", 'add one: [models.default] with store = "…"')
        for name, given in models.items():
            checked(given, MODEL_FIELDS, f"models.{name}")
            if "store" not in given:
                raise NoRegretError(f"models.{name} has no store", 'add store = "…"')
            listed = given.get("source", [])
            if isinstance(listed, list) and not all(isinstance(each, str) for each in listed):
                raise NoRegretError(f"models.{name}.source lists addresses")
        stores = [given["store"] for given in models.values()]
        if len({s if is_address(s) else Path(s).resolve() for s in stores}) < len(stores):
            raise NoRegretError("two models have the same store")
        keys = dict(key_of(number, given) for number, given in enumerate(found.get("keys", [])))
        rate = rate_of(found, "rate")
    except NoRegretError as error:
        raise error.at(file=path) from None
    return Configuration({name: Model(**given) for name, given in models.items()}, keys, rate)


def key_of(number: int, given: Any) -> tuple[str, Key]:
    """Return a key of a configuration, after its digest."""
    where = f"keys[{number}]"
    checked(given, KEY_FIELDS, where)
    digest, may = given.get("digest", ""), given.get("may", [])
    if not (digest.startswith(PREFIX) and len(digest) == len(PREFIX) + 64):
        raise NoRegretError(f"{where} has no digest", "‘noregret serve --new-key NAME’ makes a key")
    if not may or not set(may) <= set(SCOPES):
        raise NoRegretError(f"{where}.may lists what it allows: {', '.join(SCOPES)}")
    models = given.get("models", [])
    if not all(isinstance(model, str) for model in models):
        raise NoRegretError(f"{where}.models lists names")
    rate = rate_of(given, f"{where}.rate")
    return digest, Key(given.get("name", f"key {number}"), tuple(models), tuple(may), rate)


def rate_of(given: Mapping[str, Any], where: str) -> float | None:
    """Return a rate of examples per second; None if there is no limit."""
    rate = given.get("rate")
    if rate is not None and not 0 < rate < math.inf:
        raise NoRegretError(f"{where} is {rate!r}", "give the examples per second, as in 100")
    return None if rate is None else float(rate)


def checked(given: Any, fields: Mapping[str, Any], where: str) -> None:
    """Refuse fields that are unknown, or of another type."""
    if not isinstance(given, dict):
        raise NoRegretError(f"{where} is not a table")
    for name, value in given.items():
        place = f"{where}.{name}" if where else name
        if name not in fields:
            raise NoRegretError(f"there is no field {place}", f"known: {', '.join(fields)}")
        if not isinstance(value, fields[name]) or isinstance(value, bool):
            raise NoRegretError(f"{place} is {value!r:.80}")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
