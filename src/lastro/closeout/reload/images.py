"""Pictures: decoded whole, of some size, and not of a single colour. PNG by itself, the others by Pillow."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from lastro.closeout.reload.apart import Loaded, Request
from lastro.closeout.reload.png import PngDamaged, read_png
from lastro.locale import _, ngettext

_PNG = ".png"
_SUFFIXES = frozenset({_PNG, ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif"})
#: What may lie beside pictures.
_BESIDE = frozenset({".json", ".jsonl", ".csv", ".txt", ".md"})


class ImagesLoader:
    """Opens a picture, or a folder of pictures."""

    name = "images"
    packages: tuple[str, ...] = ()
    only_jailed = False

    def reads(self, path: Path) -> bool:
        if path.is_file():
            return path.suffix.lower() in _SUFFIXES
        suffixes = {file.suffix.lower() for file in path.rglob("*") if file.is_file()}
        return bool(suffixes & _SUFFIXES) and suffixes <= _SUFFIXES | _BESIDE

    def load(self, request: Request) -> Loaded:
        place = Path(request.path)
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        pictures = [file for file in files if file.suffix.lower() in _SUFFIXES and file.is_file()]
        if request.rows is not None and len(pictures) != request.rows:
            return Loaded(
                problem=_("there are {count} pictures, {expected} were promised").format(
                    count=len(pictures), expected=request.rows
                )
            )
        sizes: Counter[tuple[int, int]] = Counter()
        unchecked = []
        for file in pictures:
            name = file.relative_to(place).as_posix() if place.is_dir() else file.name
            try:
                size, constant = _decoded(file)
            except (PngDamaged, OSError, SyntaxError) as error:
                return Loaded(problem=f"{name}: {error}")
            if constant:
                return Loaded(problem=_("{name} has a single colour").format(name=name))
            if constant is None:
                unchecked.append(name)
            sizes[size] += 1
        (width, height), _most = sizes.most_common(1)[0]
        proof = ngettext(
            "{count} picture was decoded, {width} x {height}, not of a single colour",
            "{count} pictures were decoded, most of them {width} x {height}, none of a single colour",
            len(pictures),
        ).format(count=len(pictures), width=width, height=height)
        return Loaded(proof=proof, unchecked=tuple(unchecked))


def _decoded(file: Path) -> tuple[tuple[int, int], bool | None]:
    """Return size and whether there is a single colour. Raises ImportError where a format takes Pillow."""
    if file.suffix.lower() == _PNG:
        picture = read_png(file)
        return (picture.width, picture.height), picture.constant
    from PIL import Image

    with Image.open(file) as image:
        image.load()
        bands = image.convert("RGBA").getextrema()
        return image.size, all(low == high for low, high in bands)
