"""The sizes of tests: what is left out by default is chosen so that no law and no case is lost."""

from __future__ import annotations

import pytest

from tests import thorough
from tests.cases import CASES
from tests.experts import masters
from tests.variants import VARIANTS


@pytest.mark.parametrize(
    ("cases", "share"),
    [(VARIANTS, None), (masters.VARIANTS, None), (CASES, 3)],
    ids=["learners", "masters", "references"],
)
def test_every_law_has_every_name_and_all_laws_together_every_case(
    cases: list[thorough.Case], share: int | None
) -> None:
    tried = [thorough.some_per_name(cases, f"law {k}", share) for k in range(1_500)]
    plain = {case.name: case for case in reversed(cases)}
    for chosen in tried:
        assert {case.name for case in chosen} == set(plain)
        assert share is None or all(case in chosen for case in plain.values())
    assert {str(case) for chosen in tried for case in chosen} == {str(case) for case in cases}


def test_pairs_in_turn_have_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [(a, b) for a in "abcd" for b in range(3)]
    monkeypatch.setattr(thorough, "THOROUGH", False)
    some = thorough.paired("abcd", range(3))
    assert [a for a, _ in some] == list("abcd")
    assert {b for _, b in some} == {0, 1, 2}
    monkeypatch.setattr(thorough, "THOROUGH", True)
    assert thorough.paired("abcd", range(3)) == whole
