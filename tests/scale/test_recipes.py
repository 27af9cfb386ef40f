"""The recipes for Spark and Dask on the page make the models of ``noregret run --group``."""

import os
import pickle
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret
from tests.app.run.commands import done
from tests.thorough import THOROUGH, sized

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scale.md"
SHOPS = 12
# Seconds that Spark may take, most of which is its start.
TIME_OUT = 300


def recipes() -> dict[str, str]:
    """Return the scripts of the page, by what they import."""
    blocks = re.findall(r"^```py\n(.*?)^```\n", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found = dict[str, str]()
    for block in blocks:
        imported = re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE)
        kind = next(kind for kind in ("pyspark", "dask", "pickle") if kind in imported)
        found[kind] = block
    return found


def missing(kind: str) -> str | None:
    """Return why a recipe cannot run here."""
    if find_spec(kind) is None:
        return f"{kind} is not installed"
    if kind == "pyspark":
        if shutil.which("java") is None:
            return "Spark needs Java, which is not installed"
        if not THOROUGH:
            return "Spark takes half a minute: only in thorough runs"
    return None


def state_of(learner: Any) -> tuple[Any, ...]:
    """Return all that a learner knows, as bytes."""
    arrays, numbers, _ = learner.get_state()
    return {name: np.asarray(array).tobytes() for name, array in arrays.items()}, numbers


@pytest.mark.parametrize("kind", ["pyspark", "dask"])
def test_a_recipe_makes_the_models_of_the_command(kind: str, tmp_path: Path) -> None:
    if why := missing(kind):
        pytest.skip(why)
    chance, rows = np.random.default_rng(1), sized(2_000, full=20_000)
    frame = pd.DataFrame(
        {
            "row": np.arange(rows),
            "shop": chance.choice([f"shop {k}" for k in range(SHOPS)], rows),
            "wind": chance.normal(size=rows),
            "sun": chance.random(rows),
        }
    )
    frame["sold"] = 3 * frame["sun"] - frame["wind"] + chance.normal(size=rows)
    frame.to_csv(tmp_path / "days.csv", index=False)
    (tmp_path / "shops.py").write_text(recipes()["pickle"])
    (tmp_path / "recipe.py").write_text(recipes()[kind])
    paths = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    own = {"PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=tmp_path,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=TIME_OUT,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2_000:]
    models = tmp_path / "days.models"
    asked = ("--target", "sold", "--group", "shop", "--drop", "row", "--quiet", "--model", models)
    done("run", tmp_path / "days.csv", *asked)
    groups = noregret.Groups.load(models)
    found = pd.read_parquet(tmp_path / "models.parquet")
    assert sorted(found["shop"]) == sorted(groups)
    for shop, model in zip(found["shop"], found["model"], strict=True):
        assert state_of(pickle.loads(model)) == state_of(groups[shop])
