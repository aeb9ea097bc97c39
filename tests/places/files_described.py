"""Descriptions of files places, for tests."""

from __future__ import annotations

from pathlib import Path

from pathtrace.model.scenario import Access, FilesSpec, Made, Place, PlaceKind


def described(
    path: Path | str | None = None,
    *,
    make: Made | None = None,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    sample: int | None = None,
    access: Access | None = None,
    block_bytes: int = 1 << 20,
    depth: int = 1,
    workers: int = 2,
    data: str | None = None,
) -> Place:
    spec = FilesSpec(
        path=None if path is None else str(path),
        url=None,
        make=make,
        include=include,
        exclude=exclude,
        sample=sample,
        access=access or Access.READ,
        access_stated=access is not None,
        block_bytes=block_bytes,
        depth=depth,
    )
    return Place("archive", PlaceKind.FILES, "workstation", workers, 16, 60.0, data, spec)
