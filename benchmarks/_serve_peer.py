"""The peer of ``serve``: a River model behind FastAPI and uvicorn, which keeps nothing."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from river import linear_model, preprocessing

app = FastAPI()
model = preprocessing.StandardScaler() | linear_model.LinearRegression()


class Example(BaseModel):
    """An example with its outcome."""

    id: str
    x: dict[str, float]
    y: float


def played(example: Example) -> dict[str, Any]:
    prediction = model.predict_one(example.x)
    model.learn_one(example.x, example.y)
    return {"id": example.id, "prediction": prediction}


@app.post("/learn")
async def learn(example: Example) -> dict[str, Any]:
    return played(example)


@app.post("/many")
async def many(examples: list[Example]) -> list[dict[str, Any]]:
    return [played(example) for example in examples]
