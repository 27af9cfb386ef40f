"""The interface of a server as an OpenAPI document, and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

X = {
    "description": "The features: names with numbers, strings or booleans; or a list of numbers.",
    "oneOf": [
        {"type": "object", "additionalProperties": {"type": ["number", "string", "boolean"]}},
        {"type": "array", "items": {"type": "number"}},
    ],
}
ID = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "description": "The name of the prediction.",
}
Y = {"type": ["number", "boolean", "string"], "description": "The outcome."}
KEY = {
    "type": "string",
    "minLength": 1,
    "maxLength": 256,
    "description": "The key, if each has its own model.",
}
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
ACTIONS = {
    "predict": (
        "Predict an example; its label may come later.",
        {"id": ID, "x": X, "key": KEY},
        ["x"],
    ),
    "label": ("Learn the outcome of a prediction.", {"id": ID, "y": Y}, ["id", "y"]),
    "learn": (
        "Predict an example, then learn it.",
        {"id": ID, "x": X, "y": Y, "key": KEY},
        ["x", "y"],
    ),
}
NAME = {"type": "string", "description": "The name of the challenger."}
# Changes of challengers: what each does, its fields, and the required ones.
CHANGES: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "challengers": (
        "Add a challenger.",
        {
            "name": NAME,
            "learner": {"type": "string", "description": "The name of the algorithm."},
            "params": {"type": "object", "description": "Its parameters."},
            "bound": {
                "type": "number",
                "description": "The largest difference of losses that counts.",
            },
        },
        ["name", "learner"],
    ),
    "promote": ("Let a challenger serve.", {"name": NAME}, ["name"]),
    "retire": ("Remove a challenger.", {"name": NAME}, ["name"]),
    "rollback": ("Let the previous model serve again.", {}, []),
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
    "/models/{model}/rows": (
        "The labelled rows, for verifying the certificate.",
        "application/x-ndjson",
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


def described(models: Sequence[str] = ()) -> dict[str, Any]:
    """Return the OpenAPI document, with the names of the models if there are any."""
    from noregret._version import __version__

    model = MODEL | {"schema": {"enum": list(models)}} if models else MODEL

    paths: dict[str, Any] = {}
    for action, (words, properties, required) in (ACTIONS | CHANGES).items():
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        schema |= {"required": required, "additionalProperties": False}
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
