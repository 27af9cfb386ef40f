"""Addresses of tables in databases, shown without their passwords, and schemes of files."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from noregret.errors import WrongUsage

SQLITE, POSTGRESQL = "sqlite", "postgresql"
SCHEMES = {SQLITE: SQLITE, POSTGRESQL: POSTGRESQL, "postgres": POSTGRESQL}
# Stores of files; see ``remote_files``.
STORES = {"s3": "s3", "gs": "gs", "gcs": "gs", "hdfs": "hdfs"}
ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.*", re.DOTALL)
# What may be meant as an address: blanks, a scheme (no drive letter), and // or an @ after it.
MEANT = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]+):(?=//|.*@)", re.DOTALL)
HIDDEN = "***"
# Parts of the names of settings whose values are hidden.
SECRETS = ("pass", "pwd", "secret", "token")
# Characters from which a part of a text that may be a password is hidden in messages.
MIN_SECRET = 2
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

    __slots__ = ("parts", "secrets")
    parts: Parts
    secrets: list[str]  # the texts that are not to be shown

    def __new__(cls, given: str) -> Address:
        """Hide the passwords of an address."""
        made = super().__new__(cls, shown(given))
        known = given if isinstance(given, Address) else None
        made.parts = parts_of(given) if known is None else known.parts
        made.secrets = secrets_in(given) if known is None else known.secrets
        return made

    def __reduce__(self) -> Any:
        return str, (str(self),)  # passwords stay in their process


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


def people_in(given: str) -> str:
    """Return what is before the host of an address: the user and the password.

    Where that is unclear, as with an @ in the password, it reaches to the last @.
    """
    found = MEANT.match(given)
    if found is None:
        return ""
    rest = given[found.end() :]
    base, _, settings = rest.partition("?")
    sure = SERVER.fullmatch(f"postgresql:{base}") and "@" not in cut_query(settings)[0]
    slashes = len(rest) - len(rest.lstrip("/"))
    return (base if sure else rest)[slashes:].rpartition("@")[0]


def secret_settings(given: str) -> list[str]:
    """Return the values of settings with the name of a secret, as they are written."""
    settings: list[tuple[str, str]] = re.findall(r"[?&]([^?&=]*)=([^&]*(?:&[^&=]*(?=&|$))*)", given)
    return [v for k, v in settings if v and any(s in unquoted(k).lower() for s in SECRETS)]


def shown(given: object) -> str:
    """Return an address, or what may be meant as one, with its passwords hidden; or a name."""
    text = str(given)
    if (found := MEANT.match(text)) is None:
        return text
    for value in secret_settings(text):
        text = text.replace(f"={value}", f"={HIDDEN}")
    if people := people_in(text):
        user, colon, _ = people.partition(":")
        sure = found[1].lower() in SCHEMES and SERVER.fullmatch(f"postgresql://{people}@")
        kept = (f"{user}:{HIDDEN}" if colon else user) if sure else HIDDEN
        text = text[: found.end()] + text[found.end() :].replace(f"{people}@", f"{kept}@", 1)
    return text


def secrets_in(given: str) -> list[str]:
    """Return the texts of an address that are not to be shown, the longest first."""
    people, found = people_in(given), MEANT.match(given)
    known = found is not None and found[1].lower() in SCHEMES
    password = people.partition(":")[2] or ("" if known else people)
    whole: list[str] = [password, *secret_settings(given)]
    pieces: list[str] = [p for w in whole for p in re.split(r"[@/?&#]", w) if len(p) >= MIN_SECRET]
    texts = {text for part in (*whole, *pieces) if part for text in (part, unquoted(part))}
    return sorted(texts, key=len, reverse=True)


def without_secrets(said: str, given: object) -> str:
    """Return a message without the passwords of an address that it may quote."""
    text = str(given)
    if MEANT.match(text) is None:
        return said
    said = said.replace(text, shown(text))
    for secret in secrets_in(text):
        said = said.replace(secret, HIDDEN)
    return said


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
    return Parts(scheme, base, unquoted(tables[0]) if tables else None, unquoted(sql) or None)


def check_known(given: object) -> None:
    """Raise an error, without passwords, for what is meant as an address but is not a known one."""
    scheme, meant = scheme_of(given), MEANT.match(str(given))
    if scheme in SCHEMES or scheme in STORES or meant is None:
        return
    near = meant[1].lower()
    if near in SCHEMES:
        what = f"not the address of a table: {shown(given).strip()}"
        raise WrongUsage(what, FORMS[SCHEMES[near]])
    what = f"data cannot be read from {near}:{'//' if scheme else ''} addresses"
    cure = f"name a file, one in s3://, gs:// or hdfs://, or a table by {SQLITE}:// or"
    raise WrongUsage(what, f"{cure} {POSTGRESQL}://")


def refuse_store(given: str) -> None:
    """Raise an error, without passwords, for an address at which no journal can be kept."""
    if MEANT.match(given) is not None:
        what = f"not the address of a database for journals: {shown(given).strip()}"
        cure = "name a file, or write postgresql://user:password@host:port/database, with"
        raise WrongUsage(what, f"{cure} @ : / ? # in a password as %40 %3A %2F %3F %23")


def unquoted(text: str) -> str:
    """Return a text with its percent signs resolved."""
    from urllib.parse import unquote  # loading it takes as long as a thousand rows

    return unquote(text)
