"""The interface of a server as an OpenAPI document, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from noregret.app.commands.serve.bodies import MAX_FEATURES
from noregret.base.registry import all_of
from noregret.limits import MAX_PARAMETER, MAX_VALUE
from noregret.service.mixture import MASTERS

# Numbers beyond these are refused.
FINITE = {"exclusiveMinimum": -MAX_VALUE, "exclusiveMaximum": MAX_VALUE}
NUMBER: dict[str, Any] = {"type": "number"} | FINITE
NAMED = {
    "type": "object",
    "maxProperties": MAX_FEATURES,
    "additionalProperties": {"anyOf": [NUMBER, {"type": ["string", "boolean", "null"]}]},
}
LISTED = {
    "type": "array",
    "maxItems": MAX_FEATURES,
    "items": {"anyOf": [NUMBER, {"type": "boolean"}]},
}
X = {
    "description": "The features: names with numbers, strings, booleans, or null if missing; or a"
    " list of numbers or booleans. All requests to a model have the same of these two forms.",
    "oneOf": [NAMED, LISTED],
}
NAME_LENGTHS = {"minLength": 1, "maxLength": 256}
ID: dict[str, Any] = {
    "type": "string",
    "description": "The name of the prediction, for its label and for repeated requests.",
} | NAME_LENGTHS
Y = {"description": "The outcome.", "anyOf": [NUMBER, {"type": "boolean"}]}
CLASS = {
    "description": "The outcome: all are text, all whole numbers, or all booleans.",
    "type": ["integer", "boolean", "string"],
}
KEY: dict[str, Any] = {
    "type": "string",
    "pattern": r"^[^\x00\x1f]*$",
    "description": "The key, if each has its own model.",
} | NAME_LENGTHS
ANSWER = {
    "type": "object",
    "required": ["id", "prediction", "seq"],
    "properties": {
        "id": ID,
        "prediction": {"type": ["number", "boolean", "string", "null"]},
        "seq": {"type": "integer", "description": "The number of the prediction."},
        "chances": {"type": "object", "additionalProperties": {"type": "number"}},
    },
}
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}


def optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may also be null."""
    return schema | {"type": [schema["type"], "null"]}


ACTIONS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "predict": (
        "Predict an example; its label may come later.",
        {"id": optional(ID), "x": X, "key": optional(KEY)},
        ["x"],
    ),
    "label": ("Learn the outcome of a prediction.", {"id": ID, "y": Y}, ["id", "y"]),
    "learn": (
        "Predict an example, then learn it.",
        {"id": optional(ID), "x": X, "y": Y, "key": optional(KEY)},
        ["x", "y"],
    ),
}
NAME = {"type": "string", "description": "The name of the challenger."}
NEW_NAME = NAME | {"pattern": r"^[A-Za-z0-9_.-]{1,64}$"}
# Changes of challengers: what each does, its fields, and the required ones.
CHANGES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "challengers": (
        "Add a challenger.",
        {
            "name": NEW_NAME,
            "learner": {"type": "string", "description": "The name of the algorithm."},
            "mixture": {
                "enum": list(MASTERS),
                "description": "In place of a learner: the master that mixes all models.",
            },
            "params": {
                "type": "object",
                "description": "Its parameters; others, or other values, are refused.",
            },
            "bound": {
                "type": "number",
                "exclusiveMinimum": 0,
                "exclusiveMaximum": MAX_PARAMETER,
                "description": "The largest difference of losses that counts.",
            },
        },
        ["name"],
    ),
    "promote": ("Let a challenger serve.", {"name": NAME}, ["name"]),
    "retire": ("Remove a challenger.", {"name": NAME}, ["name"]),
    "rollback": ("Let the previous model serve again.", {}, []),
}
# A new one is a learner with its parameters, or a mixture.
EITHER = {
    "oneOf": [
        {"required": ["learner"], "not": {"required": ["mixture"]}},
        {
            "required": ["mixture"],
            "not": {"anyOf": [{"required": ["learner"]}, {"required": ["params"]}]},
        },
    ],
}
STANDING = {
    "type": "object",
    "required": ["serving", "challengers"],
    "properties": {"serving": {"type": "string"}, "challengers": {"type": "object"}},
}
# Path, what it returns, and the media type.
FACTS = {
    "/models": ("All models.", "application/json"),
    "/models/{model}": (
        "Learner, rounds learned, predictions without a label.",
        "application/json",
    ),
    "/models/{model}/certificate": ("A certificate of what was served.", "application/json"),
    "/models/{model}/report": ("The certificate as a page.", "text/html"),
    "/models/{model}/rows": (
        "The labelled rows, for verifying the certificate.",
        "application/x-ndjson",
    ),
    "/models/{model}/start": (
        "The trained model that it began with, for verifying the certificate.",
        "application/octet-stream",
    ),
    "/models/{model}/challengers": (
        "Challengers of the serving model.",
        "application/json",
    ),
    "/metrics": ("Metrics for Prometheus.", "text/plain"),
    "/healthz": ("Whether the process is alive.", "text/plain"),
    "/readyz": ("Whether all models can answer.", "text/plain"),
}
MODEL = {"name": "model", "in": "path", "required": True, "schema": {"type": "string"}}


class Kind(NamedTuple):
    """The requests that a model takes.

    Parameters
    ----------
    of_classes
        Whether outcomes are classes.
    target
        The name of outcomes.
    named
        Whether outcomes are two labels as a file has named them.
    """

    of_classes: bool
    target: str
    named: bool = False


def described(models: Mapping[str, Kind] | None = None) -> dict[str, Any]:
    """Return the OpenAPI document, with the names of the models if there are any."""
    from noregret._version import __version__

    models = models or {}
    model = MODEL | {"schema": {"enum": list(models)}} if models else MODEL
    given = fields(models.values())
    paths: dict[str, Any] = {}
    for action, (words, properties, required) in (ACTIONS | CHANGES).items():
        told = {name: given.get(name, schema) for name, schema in properties.items()}
        schema: dict[str, Any] = {"type": "object", "properties": told}
        schema |= {"required": required, "additionalProperties": False}
        if action == "challengers":
            schema |= EITHER
        body: dict[str, Any] = {"application/json": {"schema": schema}}
        if action in ACTIONS:
            body["application/x-ndjson"] = {}
        answer = ANSWER if action in ACTIONS else STANDING
        post: dict[str, Any] = {
            "summary": words,
            "operationId": action,
            "responses": {
                "200": said("The answer.", "application/json", answer),
                "default": said("A problem.", "application/problem+json", PROBLEM),
            },
        }
        if properties:
            post["requestBody"] = {"required": True, "content": body}
        paths[f"/models/{{model}}/{action}"] = {"parameters": [model], "post": post}
    for path, (words, media) in FACTS.items():
        problem = said("A problem.", "application/problem+json", PROBLEM)
        known = {"summary": words, "responses": {"200": said(words, media), "default": problem}}
        shared = {"parameters": [model]} if "{model}" in path else {}
        paths[path] = paths.get(path, {}) | {"get": known} | shared
    return {
        "openapi": "3.1.0",
        "info": {"title": "noregret", "version": __version__},
        "paths": paths,
        "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"key": []}],
    }


def fields(kinds: Iterable[Kind]) -> dict[str, Any]:
    """Return the fields of requests that depend on the models."""
    kinds = list(kinds)
    if not kinds:
        return {}
    kinds_of_learners = classes = {kind.of_classes for kind in kinds}
    if any(kind.named for kind in kinds):
        classes = {False, True}
    y = Y if classes == {False} else CLASS if classes == {True} else {"anyOf": [Y, CLASS]}
    called = {"propertyNames": {"not": {"enum": sorted({kind.target for kind in kinds})}}}
    learners = [
        name for name, kind in all_of("learners").items()
        if bool(getattr(kind, "_of_classes", False)) in kinds_of_learners
    ]  # fmt: skip
    learner = {"enum": learners, "description": "The name of the algorithm."}
    found: dict[str, Any] = {
        "y": y,
        "x": X | {"oneOf": [NAMED | called, LISTED]},
        "learner": learner,
    }
    if True in kinds_of_learners:  # classes are not mixed
        found["mixture"] = {"not": {}}
    return found


def said(words: str, media: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a response of a document."""
    return {"description": words, "content": {media: {"schema": schema} if schema else {}}}


STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;"
    "color:#1c2430;background:#fff}code,pre{font:14px/1.5 ui-monospace,monospace}"
    "pre{background:#f3f5f8;padding:.8rem 1rem;overflow:auto;border-radius:6px}"
    "td{padding:.2rem 1rem .2rem 0;vertical-align:top}h1{font-size:1.5rem}h2{font-size:1.1rem}"
    "@media(prefers-color-scheme:dark){body{color:#dde3ea;background:#14181d}"
    "pre{background:#1f252c}a{color:#8ab8ff}}"
)


def page(document: dict[str, Any], models: Sequence[str], address: str) -> str:
    """Return the page of a server: its models, its paths, and how to call it."""
    rows = "".join(
        f"<tr><td><code>{method.upper()} {escape(path)}</code></td><td>{escape(does['summary'])}"
        "</td></tr>"
        for path, methods in document["paths"].items()
        for method, does in methods.items()
        if method != "parameters"
    )
    name = escape(models[0]) if models else "MODEL"
    listed = ", ".join(f'<a href="models/{escape(each)}">{escape(each)}</a>' for each in models)
    listed = listed or "send a key to <code>/models</code>, <code>Authorization: Bearer KEY</code>"
    body = '{"id": "order-1", "x": {"sun": 0.8}}'
    path = f"{escape(address)}models/{name}/predict"
    call = f"curl -H 'Content-Type: application/json' -d '{escape(body)}' \\\n  {path}"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>noregret</title>'
        f"<style>{STYLE}</style><h1>noregret {document['info']['version']}</h1>"
        f"<p>Models: {listed}</p><h2>Example</h2><pre>{call}</pre>"
        f"<p>Many rows at once: a JSON object per line, as <code>application/x-ndjson</code>.</p>"
        f'<h2>Paths</h2><table>{rows}</table><p><a href="openapi.json">OpenAPI document</a>, '
        f'<a href="metrics">metrics</a>, <a href="models/{name}/certificate">certificate</a></p>'
    )
