"""Addresses of tables in databases, shown without their passwords, and schemes of files."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from noregret.errors import WrongUsage

SQLITE, POSTGRESQL = "sqlite", "postgresql"
SCHEMES = {SQLITE: SQLITE, POSTGRESQL: POSTGRESQL, "postgres": POSTGRESQL}
# Stores of files; see ``remote_files``.
STORES = {"s3": "s3", "gs": "gs", "gcs": "gs", "hdfs": "hdfs"}
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.*", re.DOTALL)
HIDDEN = "***"
SECRETS = ("password", "sslpassword")
TABLE, QUERY = "table=", "query="
HOST = r"(?:\[[^]/@]*]|[^][/?@:,]*)(?::\d+)?"
SERVER = re.compile(rf"postgresql://(?:[^/?@]*@)?{HOST}(?:,{HOST})*(?:/[^/?@]*)?")
FORMS = {
    SQLITE: "write sqlite:///folder/file.db?table=name, or sqlite:////folder/file.db for a path"
    " from the root",
    POSTGRESQL: "write postgresql://user:password@host:port/database?table=name, or"
    " …?query=SELECT…, with @ : / ? in a password as %40 %3A %2F %3F",
}


class Parts(NamedTuple):
    """The parts of an address: the database for its driver, and a table or a query, if named."""

    scheme: str
    base: str
    table: str | None
    query: str | None


class Address(str):
    """The address of a table, as it is shown: without passwords. ``parts`` is what is used."""

    __slots__ = ("parts",)
    parts: Parts

    def __new__(cls, given: str) -> Address:
        """Hide the passwords of an address."""
        made = super().__new__(cls, shown(given))
        made.parts = given.parts if isinstance(given, Address) else parts_of(given)
        return made

    def __reduce__(self) -> Any:
        return str, (str(self),)  # passwords stay in their process

    @property
    def secrets(self) -> list[str]:
        """The texts that are not to be shown."""
        base = self.parts.base
        found = [password_in(base.partition("?")[0])]
        found += [v for k, v in settings_in(base.partition("?")[2]) if k in SECRETS]
        return [text for part in found if part for text in {part, unquote(part)}]


def scheme_of(given: object) -> str | None:
    """Return the scheme of an address; None for the name of a file."""
    text = str(given)
    if text.startswith(f"{SQLITE}:"):
        return SQLITE
    found = ADDRESS.fullmatch(text)
    return None if found is None else found[1].lower()


def settings_in(text: str) -> list[tuple[str, str]]:
    """Return the settings after the question mark of an address, as they are written."""
    pairs = (part.partition("=") for part in text.split("&") if part)
    return [(name, value) for name, _, value in pairs]


def password_in(base: str) -> str:
    """Return the password in the first part of an address."""
    people, at, _ = base.partition("://")[2].rpartition("@")
    return people.partition(":")[2] if at else ""


def shown(given: str) -> str:
    """Return an address with its passwords hidden."""
    base, mark, rest = given.partition("?")
    if password := password_in(base):
        before, _, after = base.rpartition(f":{password}@")
        base = f"{before}:{HIDDEN}@{after}"
    settings, query, sql = cut_query(rest)
    for secret in SECRETS:
        settings = re.sub(rf"((?:^|&){secret}=)[^&]*", rf"\g<1>{HIDDEN}", settings)
    return f"{base}{mark}{settings}{query}{sql}"


def cut_query(rest: str) -> tuple[str, str, str]:
    """Return what is before a query, its key, and the query, which reaches to the end."""
    found = re.search(rf"(?:^|&){QUERY}", rest)
    return (
        (rest, "", "") if found is None else (rest[: found.start()], found[0], rest[found.end() :])
    )


def parts_of(given: str) -> Parts:
    """Return the parts of an address; raise an error that shows no password."""
    scheme = SCHEMES[scheme_of(given) or ""]
    base, _, rest = given.partition("?")
    base = f"{scheme}:{base.partition(':')[2]}"
    settings, has_query, sql = cut_query(rest)
    tables = [v for k, v in settings_in(settings) if k == "table"]
    others = [f"{k}={v}" for k, v in settings_in(settings) if k != "table"]
    if scheme == SQLITE:
        known = not others and base.startswith("sqlite:///") and len(base) > len("sqlite:///")
    else:
        known = SERVER.fullmatch(base) is not None
    if not known or len(tables) + bool(has_query) > 1 or "" in tables or (has_query and not sql):
        what = f"not the address of a table: {scheme}://…"  # which part is the password is unclear
        raise WrongUsage(what, FORMS[scheme])
    base += f"?{'&'.join(others)}" if others else ""
    return Parts(scheme, base, unquote(tables[0]) if tables else None, unquote(sql) or None)


def check_known(given: object) -> None:
    """Raise an error, without passwords, for the address of an unknown kind of database."""
    scheme = scheme_of(given)
    if scheme is not None and scheme not in SCHEMES and scheme not in STORES:
        what = f"data cannot be read from {scheme}:// addresses"
        cure = f"name a file, one in s3://, gs:// or hdfs://, or a table by {SQLITE}:// or"
        raise WrongUsage(what, f"{cure} {POSTGRESQL}://")
