"""What holds for every test; ``tests/thorough.py`` has their sizes."""

import gc
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

import noregret  # noqa: F401 - an editable install compiles now, not in all parallel workers at once
from tests.app.report import browser
from tests.thorough import load_profile

# Each worker has a core: threads of linear algebra would wait for one another, at full speed.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

load_profile()
gc.disable()  # until all tests are there


class Brief:
    """A parallel worker's plugin: of a test that passes, report its call and nothing else.

    Sending thousands of setups, teardowns and keywords to the process that prints dots would take
    longer than most tests.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                if report.passed:
                    report.keywords = {}
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_configure(config: pytest.Config) -> None:
    """Be brief in a parallel worker, unless durations or a report in XML need all parts."""
    asked = config.getoption("durations") is not None or config.getoption("xmlpath")
    if hasattr(config, "workerinput") and not asked:
        config.pluginmanager.register(Brief())


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import a share of the tests first in each parallel worker, if all tests are to run.

    pytest compiles what it imports for the first time, and keeps it: so one worker does that for
    each file, and not all of them at the same time.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is not None and "tests" in session.config.args:
        here = Path(__file__).parent
        number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        for path in sorted(here.rglob("test_*.py"))[number::count]:
            import_module(".".join(path.relative_to(here.parent).with_suffix("").parts))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Spare the garbage collector the thousands of tests: it looks at what they make."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)  # hardly any garbage is in cycles
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _at_once() -> Iterator[None]:
    """Write no lines of progress, do not wait for the disk, and give hindsight the time it needs.

    So nothing depends on how slow the machine is. No test pulls the plug, so none has to wait until
    its files are safe from that.
    """

    def fsync(_: Any) -> None:
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("noregret.proof.game.progress.SECONDS_PER_LINE", 1e6)
        patch.setattr("noregret.app.commands.run.runner.MIN_LOOK_BACK", 600.0)
        patch.setattr("noregret.app.commands.run.runner.PATIENCE", 1e9)
        patch.setattr(os, "fsync", fsync)
        yield


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """A browser, started once for all pages."""
    if browser.found() is None:
        pytest.skip(browser.MISSING)
    with browser.browser(tmp_path_factory.mktemp("profile")) as started:
        yield started
