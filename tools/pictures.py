"""Take the pictures of reports that the README and the pages show, with headless Chromium.

    python tools/pictures.py [report] [mix] [echo]

Each command writes its report into a temporary folder. A screenshot of its upper part goes to
docs/_static, in 256 colours, so that pages stay small; that needs Pillow.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src" / "noregret" / "data"
WIDTH = 1100
# The command behind each picture, without --report, and the height of the picture in pixels.
PICTURES: dict[str, tuple[list[str], int]] = {
    "report": (["demo"], 1840),
    "mix": (
        ["mix", f"{DATA}/approval.csv", "--target", "five_thirty_eight", "--drop", "ordinal_date"],
        1700,
    ),
    "echo": (["echo", "--demo"], 1500),
}


def main(names: list[str]) -> None:
    """Take the pictures of these names, or all of them."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("install Chromium first, for example with: apt-get install chromium")
    for name in names or PICTURES:
        command, height = PICTURES[name]
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            noregret = [str(Path(sys.executable).with_name("noregret")), *command]
            subprocess.run([*noregret, "--report", str(page)], cwd=folder, check=True)
            subprocess.run(
                [
                    browser,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--hide-scrollbars",
                    f"--user-data-dir={folder}/profile",
                    f"--window-size={WIDTH},{height}",
                    f"--screenshot={ROOT / 'docs' / '_static' / name}.png",
                    page.as_uri(),
                ],
                check=True,
                capture_output=True,
            )
        place = ROOT / "docs" / "_static" / f"{name}.png"
        with Image.open(place) as picture:
            picture.convert("RGB").quantize(256).save(place, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
