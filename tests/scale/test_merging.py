"""What was made apart composes: groups of different keys, and certificates of shards."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.errors import NoRegretError
from noregret.scale import play
from tests.scale.inline import Inline

Row = tuple[str, dict[str, float], float]


def rows_of(shops: range, count: int = 300) -> list[Row]:
    draw = random.Random(shops.start)
    found = []
    for _ in range(count):
        shop, x = f"shop {draw.choice(shops)}", {"sun": draw.random(), "wind": draw.gauss(0, 1)}
        found.append((shop, x, 3 * x["sun"] - x["wind"] + draw.gauss(0, 0.1)))
    return found


def learned(rows: list[Row], **options: Any) -> nr.Groups:
    groups = nr.Groups(nr.Vaw(), **options)
    for row in rows:
        groups.learn_one(*row)
    return groups


@pytest.mark.parametrize("options", [{}, {"resident": 2}])
def test_groups_of_other_keys_merge_into_the_groups_of_all_rows(
    options: dict[str, Any], tmp_path: Path
) -> None:
    north, south = rows_of(range(5)), rows_of(range(5, 9))
    one, other, both = learned(north), learned(south, **options), learned(north + south)
    before = other.records()
    merged = one.merge(other)
    assert merged is one
    assert merged.records() == both.records()
    assert (merged.rounds, merged.total_loss) == (both.rounds, both.total_loss)
    assert other.records() == before
    later = [(shop, x, y + 1) for shop, x, y in south[:40]]
    for key, x, y in later:  # they go on, and the others do not change with them
        assert merged.predict_one(key, x) == both.predict_one(key, x)
        merged.learn_one(key, x, y)
        both.learn_one(key, x, y)
    assert other.records() == before
    merged.save(tmp_path / "merged.models")
    again = nr.Groups.load(tmp_path / "merged.models")
    assert again.records() == both.records()
    assert all(again.predict_one(key, x) == both.predict_one(key, x) for key, x, _ in north)


def test_groups_that_share_a_key_or_differ_are_left_as_they_were() -> None:
    one, other = learned(rows_of(range(5))), learned(rows_of(range(4, 6)))
    before = one.records()
    with pytest.raises(NoRegretError, match="both groups have a learner of 'shop 4'"):
        one.merge(other)
    with pytest.raises(NoRegretError, match="both groups have a learner of"):
        one.merge(one)
    with pytest.raises(ValueError, match="differ"):
        one.merge(nr.Groups(nr.Vaw(penalty=2.0)))
    with pytest.raises(TypeError, match="groups merge with groups"):
        one.merge(nr.Vaw())
    numbers, texts = nr.Groups(nr.Vaw()), nr.Groups(nr.Vaw())
    numbers.learn_one(7, {"sun": 1.0}, 1.0)
    texts.learn_one("7", {"sun": 1.0}, 1.0)
    with pytest.raises(NoRegretError, match="both groups have a learner of '7'"):
        numbers.merge(texts)
    pairs = nr.Groups(nr.Vaw())
    pairs.learn_one(("a", "b"), {"sun": 1.0}, 1.0)
    with pytest.raises(TypeError, match="keys are of another kind"):
        one.merge(pairs)
    assert one.records() == before


# Shards.


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = []
    for k, count in enumerate((90, 30, 60)):
        rows = rows_of(range(k, k + 1), count)
        lines = [f"{x['sun']!r},{x['wind']!r},{y!r}" for _, x, y in rows]
        path = tmp_path / f"{k}.csv"
        path.write_text("\n".join(["sun,wind,y", *lines]) + "\n")
        found.append(path)
    return found


@pytest.mark.parametrize(
    ("learner", "keep"),
    [(nr.Vaw(), "sums"), (nr.Vaw(), "rows"), (nr.GradientDescent("absolute", radius=2.0), "rows")],
)
def test_games_of_shards_merge_into_the_game_of_all_files(
    learner: Any, keep: str, files: list[Path]
) -> None:
    parts = [play(learner, file, "y", keep=keep, pool=Inline(1)) for file in files]
    before = [part.certificate().to_json() for part in parts]
    both = play(learner, files, "y", keep=keep, pool=Inline(1))
    merged = parts[0].merge(parts[1]).merge(parts[2])
    if keep == "sums":
        assert merged.certificate().to_json() == both.certificate().to_json()
    else:  # whose sums are rounded in other blocks
        here, there = merged.certificate(), both.certificate()
        assert (here.data, here.loss) == (there.data, there.loss)
        assert here.hindsight.loss == pytest.approx(there.hindsight.loss, rel=1e-9)
    assert [part.certificate().to_json() for part in parts] == before
    assert len(merged.learners) == 3
    assert nr.verify(merged.certificate(), files).confirmed
    assert not nr.verify(merged.certificate(), files[::-1]).confirmed


def test_shards_that_do_not_read_as_one_stream_are_refused(files: list[Path]) -> None:
    one = play(nr.Vaw(), files[0], "y", pool=Inline(1))
    other = files[0].with_name("other.csv")
    other.write_text("rain,y\n1,2\n2,3\n")
    for wrong, words in (
        (play(nr.Vaw(), other, "y", pool=Inline(1)), "the features differ"),
        (play(nr.Vaw(), files[1], "y", pool=Inline(1), keep="rows"), "has kept the rows"),
        (play(nr.Vaw(penalty=2.0), files[1], "y", pool=Inline(1)), "only with shards of the same"),
        (play(nr.Vaw(), files[1], "wind", pool=Inline(1)), "features differ"),
    ):
        with pytest.raises(ValueError if "same" in words else NoRegretError, match=words):
            one.merge(wrong)
