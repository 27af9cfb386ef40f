"""Draw the terminal that the README shows, docs/_static/terminal.svg, from what the commands print.

python tools/terminal_picture.py
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "_static" / "terminal.svg"
WIDTH = 84
COMMANDS = (
    "noregret run flights.csv --target arr_delay --certificate flights.json",
    "noregret verify flights.json flights.csv | tail -1",
)


def drawn() -> str:
    """Return the picture."""
    # Browsers do not fetch fonts for a picture in a page.
    frame = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    console = Console(record=True, width=WIDTH, file=StringIO())
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "flights.csv").symlink_to(
            ROOT / "src" / "noregret" / "data" / "flights.csv"
        )
        for command in COMMANDS:
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=folder,
                env={**os.environ, "PATH": path, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1"},
                stdout=subprocess.PIPE,
                encoding="utf-8",
                check=True,
            )
            console.print(Text(f"$ {command}", style="bold"))
            console.print(Text.from_ansi(done.stdout.rstrip()), end="\n\n")
    return console.export_svg(title="noregret", code_format=frame, unique_id="terminal")


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)} is drawn")
