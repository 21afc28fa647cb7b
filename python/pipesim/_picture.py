"""Pictures that the program draws, with gnuplot."""
import tempfile
from pathlib import Path
from typing import Sequence

from ._program import call


class Picture(str):
    """An SVG text that a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path) -> None:
        """Writes the picture to a file."""
        Path(path).write_text(self, encoding="utf-8")


def draw(words: Sequence[str], option: str) -> Picture:
    """Runs the program with `option=FILE.svg` and returns the picture that it wrote."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.svg"
        call([*words, *([option, str(path)])])
        text = path.read_text(encoding="utf-8")
    return Picture(text[text.index("<svg"):])
