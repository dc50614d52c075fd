"""A results folder: finished cells, checkpoints and tables as files that are written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from recombine.core import UserError

_FACTS = b"recombine"


def write(path: Path, content: bytes) -> None:
    """Write a file atomically: a reader finds the old one or the new one, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(draft, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        full = "; the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        raise UserError(f"cannot write {path}: {error.strerror}{full} (what was finished before is kept)") from error


def write_json(path: Path, content: Any) -> None:
    write(path, (json.dumps(_plain(content), indent=1, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {error}") from error


def _plain(value: Any) -> Any:
    """As JSON has it: numbers that are none become null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def table_bytes(rows: list[dict], facts: Mapping[str, Any] | None = None) -> bytes:
    """Rows as Parquet: exact numbers, and room for small pictures as nested lists; `facts` travel as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [_listed(row.get(name)) for row in rows] for name in names}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata({_FACTS: json.dumps(_plain(facts or {}))}), sink)
    return sink.getvalue()


def read_facts(content: bytes) -> dict[str, Any]:
    """What a table says of how it was made."""
    import pyarrow.parquet as pq

    return json.loads((pq.read_schema(io.BytesIO(content)).metadata or {}).get(_FACTS, b"{}"))


def joined(contents: list[bytes]) -> bytes:
    """Tables one below the other, without what they say of their making."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(io.BytesIO(c)).replace_schema_metadata(None) for c in contents]
    sink = io.BytesIO()
    pq.write_table(pa.concat_tables(tables, promote_options="permissive"), sink)
    return sink.getvalue()


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def read_table(source: Path | bytes):
    """Parquet as a DataFrame, nested lists as NumPy arrays."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(source if isinstance(source, bytes) else source.read_bytes()))
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"cannot read the table {source if isinstance(source, Path) else ''}: {error}") from error
    nested = {f.name: pa.types.is_list(f.type) for f in table.schema}
    columns = {
        name: [None if v is None else np.array(v) for v in table[name].to_pylist()]
        if nested[name]
        else table[name].to_pandas()
        for name in table.column_names
    }
    return pd.DataFrame(columns)


class Cells:
    """Finished cells, one Parquet file each: `<what determines it>-<digest of its bytes>.parquet`."""

    def __init__(self, folder: Path):
        self.folder = folder

    def save(self, identity: str, rows: list[dict], facts: Mapping[str, Any]) -> bytes:
        for path in self.folder.glob(f"{identity}-*.parquet"):
            path.unlink(missing_ok=True)
        content = table_bytes(rows, facts)
        write(self.folder / f"{identity}-{_digest(content)}.parquet", content)
        return content

    def load(self, identity: str, complain: Callable[[str], None]) -> bytes | None:
        """The bytes of a finished cell; a damaged file is named, put out of the way, and counts as not there."""
        for path in sorted(self.folder.glob(f"{identity}-*.parquet")):
            content = path.read_bytes()
            if path.stem.removeprefix(f"{identity}-") == _digest(content):
                return content
            complain(f"{path} is truncated or was changed: computing it again")
            path.unlink()
        return None

    def checkpoint(self, identity: str, label: str) -> Path:
        return self.folder / f"{identity}.{label}.checkpoint.npz"

    def forget_checkpoints(self, identity: str) -> None:
        for path in self.folder.glob(f"{identity}.*.checkpoint.npz"):
            path.unlink(missing_ok=True)

    def kept(self, identity: str, label: str, kind: str) -> Path:
        """Where something else that a cell leaves behind on request is put."""
        return self.folder / f"{identity}.{label.replace('/', '-').replace(' ', '_')}.{kind}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def sweep(folder: Path) -> None:
    """Remove drafts that a killed process left; only for who holds the folder."""
    for path in folder.rglob(".*.draft"):
        path.unlink(missing_ok=True)


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    sink = io.BytesIO()
    np.savez(sink, **arrays)  # type: ignore[arg-type]
    content = sink.getvalue()
    write(path, _digest(content).encode() + content)


def load_arrays(path: Path, complain: Callable[[str], None]) -> dict[str, np.ndarray] | None:
    """A checkpoint, or nothing where there is none or it is damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    if content[:16] != _digest(content[16:]).encode():
        complain(f"{path} is truncated or was changed: starting that population again")
        return None
    with np.load(io.BytesIO(content[16:]), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold a results folder for this process; the system lets go of it when the process ends, however it ends."""
    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = open(path, "a+")  # noqa: SIM115
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.seek(0)
            who = handle.read().strip() or "?"
            raise UserError(
                f"process {who} is already working in {folder}: wait for it, or choose another --out"
            ) from error
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
