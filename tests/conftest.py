"""Seeds for tests that draw numbers, and a browser for those that look at pages."""

import gc
import os
import shutil

import pytest

# Thousands of tests are alive at once, and Python would look through them all again and again: a tenth of the time.
gc.set_threshold(100_000, 50, 100)

# What a disk keeps when the power goes nobody sees from inside a process, and thousands of waits add up. Tests
# that kill a process or fail a step bring a process, or an fsync, of their own.
os.fsync = os.fstat  # as it does, it refuses a handle that is not open


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One seed by default, as many as MANYVIEW_SEEDS says for a wider search."""
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(int(os.environ.get("MANYVIEW_SEEDS", "1"))))


FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="session")
def launch():
    """Starts headless Chromium, with more flags if wanted. Where there is none the test is skipped, unless
    MANYVIEW_BROWSER=required. One for all tests of a process: playwright cannot be started twice in one.
    """
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        missing = "this test needs a browser: install playwright and Debian's chromium"
        if os.environ.get("MANYVIEW_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as started:
        yield lambda *flags: started.chromium.launch(executable_path=chromium, args=[*FLAGS.split(), *flags])


@pytest.fixture(scope="session")
def browser(launch):
    """Headless Chromium."""
    opened = launch()
    yield opened
    opened.close()
