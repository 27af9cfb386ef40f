"""Files that change or vanish while workers read them, and certificates over changed parts."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret import scale
from noregret.batch import Ridge
from noregret.errors import NoRegretError
from tests.scale.inline import Inline

SIZES = [1, 0, 300, 40, 259]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return files of very uneven sizes, one without rows."""
    rng, made = random.Random(3), []
    for number, rows in enumerate(SIZES):
        path = tmp_path / f"{number}.csv"
        lines = ["a,b,y"]
        for _ in range(rows):
            a, b = rng.random(), rng.random()
            lines.append(f"{a},{b},{3 * a - b + rng.gauss(0, 0.1)}")
        path.write_text("\n".join(lines) + "\n")
        made.append(str(path))
    return made


class Meddler(Inline):
    """Workers while whose tasks something happens to the files."""

    def __init__(self, act: Callable[[], Any], when: int) -> None:
        super().__init__(2)
        self.act, self.left = act, when

    def map(self, *tasks: Any, **options: Any) -> Any:
        self.left -= 1
        if not self.left:
            self.act()
        return super().map(*tasks, **options)


def shortened(path: str) -> None:
    Path(path).write_text("".join(Path(path).read_text().splitlines(keepends=True)[:-50]))


def lengthened(path: str) -> None:
    with open(path, "a") as file:
        file.write("0.1,0.2,0.3\n" * 30)


JOBS: dict[str, Callable[[list[str], Any], Any]] = {
    "fit": lambda files, pool: scale.fit(Ridge(), files, "y", pool=pool),
    "sums": lambda files, pool: scale.play(nr.Vaw(), files, "y", shards=3, pool=pool),
    "rows": lambda files, pool: scale.play(
        nr.GradientDescent("absolute"), files, "y", shards=3, pool=pool
    ),
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    ("act", "said"),
    [
        (shortened, "has changed since"),
        (lengthened, "has changed since"),
        (os.unlink, "cannot be read: No such file"),
    ],
)
def test_a_file_that_changes_between_two_passes_is_named(
    job: str, act: Callable[[str], Any], said: str, files: list[str]
) -> None:
    with pytest.raises(NoRegretError, match=said) as caught:
        JOBS[job](files, Meddler(lambda: act(files[2]), 2))
    assert caught.value.file == files[2]


def test_fifty_changed_rows_are_each_found_in_their_part(files: list[str]) -> None:
    game = scale.play(nr.Vaw(), files, "y", shards=10, pool=Inline(2))
    certificate = game.certificate()
    assert nr.verify(certificate, files).confirmed
    rows = [(file, row) for file, size in enumerate(SIZES) for row in range(1, size + 1)]
    rng = random.Random(0)
    for _ in range(50):
        at = rng.randrange(len(rows))
        file, row = rows[at]
        path = Path(files[file])
        before = path.read_text()
        lines = before.splitlines()
        cells = lines[row].split(",")
        column = rng.randrange(3)
        cells[column] = repr(float(cells[column]) + rng.choice([1e-9, 1.0, -3.0]))
        path.write_text("\n".join([*lines[:row], ",".join(cells), *lines[row + 1 :]]) + "\n")
        found = nr.verify(certificate, files)
        part = at * 10 // len(rows) + 1
        changed = [line.name for line in found.lines if "parts" in line.name and not line.confirmed]
        assert changed == [f"data.parts.{part}"]
        path.write_text(before)
