"""A target that columns explain without error is said to be computed from them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .commands import done


@pytest.mark.parametrize(
    ("factors", "said"),
    [
        ((1, 1, 0), "the target is the sum of a and b: were these known before it (--drop a,b)?"),
        ((0, 0, 1), "the target equals c: was this known before it (--drop c)?"),
        ((2, 0, 1), "the target is a linear function of a and c: were these known before it"),
        (None, ""),
    ],
)
def test_it_is_said(tmp_path: Path, factors: tuple[int, ...] | None, said: str) -> None:
    rng, lines = random.Random(3), []
    for k in range(300):
        x = [rng.randrange(900), rng.randrange(70), rng.randrange(-30, 30) / 8]
        noise = rng.gauss(0, 1) if factors is None else 0
        y = sum(f * v for f, v in zip(factors or (1, 1, 0), x, strict=True)) + noise
        lines.append(",".join(map(str, [*x, f"town{k % 3}", y])))
    file, page = tmp_path / "d.csv", tmp_path / "r.html"
    file.write_text("\n".join(["a,b,c,town,y", *lines]) + "\n")
    shown = " ".join(done("run", file, "--target", "y", "--report", page).split())
    if said:
        assert said in shown
        assert said in page.read_text()
    assert ("known before it" in shown) == bool(said)
