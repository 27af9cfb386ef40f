"""Every interval that hindsight answers holds the exact minimum: a short run of each source."""

import pytest

from tests.exactness.protocol import sources

SOURCES = sources()
CASES = 150


@pytest.mark.parametrize("name", SOURCES)
def test_no_interval_is_false(name: str) -> None:
    failures = [
        f"{name} {seed}: {case.group} / {case.loss} / {case.data}: {failure}"
        for seed, case in ((seed, SOURCES[name](seed)) for seed in range(CASES))
        if (failure := case.failure())
    ]
    assert not failures, "\n".join(failures)
