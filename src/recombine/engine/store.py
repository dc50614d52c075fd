"""A results folder: finished cells, checkpoints and tables as files that are written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from recombine.core import UserError
from recombine.engine.columns import column, nesting

_FACTS = b"recombine"
_PACKED: dict[str, Any] = {"compression": "zstd", "compression_level": 9}


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
        raise UserError(f"cannot write {path}: {_reason(error)}{full} (what was finished before is kept)") from error


def write_json(path: Path, content: Any) -> None:
    write(path, (json.dumps(plain(content), indent=1, allow_nan=False) + "\n").encode())


def read_json(path: Path) -> Any:
    try:
        return json.loads(read(path))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"cannot read {path}: {_reason(error)}") from error


def read(path: Path) -> bytes:
    """The bytes of a regular file; an OSError for a pipe, a device or a folder, which could be read without end."""
    # Without O_NONBLOCK the opening of a pipe waits until somebody writes to it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def _reason(error: Exception) -> str:
    """Why a file could not be read, in one line."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return (said.splitlines() or [type(error).__name__])[0]


def plain(value: Any) -> Any:
    """As JSON has it: numbers that are none become null."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def table_bytes(rows: list[dict], facts: Mapping[str, Any] | None = None) -> bytes:
    """Rows as Parquet: exact numbers and lists, pictures with 8 significant bits; `facts` travel as metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: column([row.get(name) for row in rows]) for name in names}
    sink = io.BytesIO()
    content = pa.table(columns).replace_schema_metadata({_FACTS: json.dumps(plain(facts or {}))})
    pq.write_table(content, sink, **_PACKED)
    return sink.getvalue()


def read_facts(content: bytes) -> dict[str, Any]:
    """What a table says of how it was made."""
    import pyarrow.parquet as pq

    return json.loads((pq.read_schema(io.BytesIO(content)).metadata or {}).get(_FACTS, b"{}"))


def with_variant(content: bytes, name: str, *, pictures: bool) -> bytes:
    """A table with one more column, the variant that made it; without its pictures and maps unless they are wanted."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    if not pictures:
        table = table.drop_columns([f.name for f in table.schema if nesting(f.type) > 1])
    sink = io.BytesIO()
    pq.write_table(table.append_column("variant", pa.array([name] * len(table))), sink, **_PACKED)
    return sink.getvalue()


def joined(contents: list[bytes]) -> bytes:
    """Tables one below the other, without what they say of their making."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(io.BytesIO(c)).replace_schema_metadata(None) for c in contents]
    sink = io.BytesIO()
    pq.write_table(pa.concat_tables(tables, promote_options="permissive"), sink, **_PACKED)
    return sink.getvalue()


def read_table(source: Path | bytes):
    """Parquet as a DataFrame, nested lists as NumPy arrays."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(source if isinstance(source, bytes) else read(source)))
        nested = {f.name: pa.types.is_list(f.type) for f in table.schema}
        columns = {
            name: [None if v is None else np.array(v) for v in table[name].to_pylist()]
            if nested[name]
            else table[name].to_pandas()
            for name in table.column_names
        }
        return pd.DataFrame(columns)
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        where = f" {source}" if isinstance(source, Path) else ""
        raise UserError(f"cannot read the table{where}: {_reason(error)}") from error


class Cells:
    """Finished cells, one Parquet file each: `<what determines it>-<digest of its bytes>.parquet`."""

    def __init__(self, folder: Path):
        self.folder = folder

    def save(self, identity: str, rows: list[dict], facts: Mapping[str, Any]) -> bytes:
        for path in self.folder.glob(f"{identity}-*.parquet"):
            path.unlink(missing_ok=True)
        content = table_bytes(rows, {**facts, "identity": identity})
        write(self.folder / f"{identity}-{_digest(content)}.parquet", content)
        return content

    def load(self, identity: str, complain: Callable[[str], None]) -> bytes | None:
        """The bytes of a finished cell; a file that is not what it should be is named, put aside, and not used."""
        for path in sorted(self.folder.glob(f"{identity}-*.parquet")):
            content, trouble = _sound(path, identity)
            if content is not None:
                self.forget_checkpoints(identity)  # a kill may have come between the cell and this
                return content
            complain(f"{path} {trouble}: computing it again")
            _put_aside(path)
        return None

    def checkpoint(self, identity: str, label: str) -> Path:
        return self.folder / f"{identity}.{label}.checkpoint.npz"

    def forget_checkpoints(self, identity: str) -> None:
        for path in self.folder.glob(f"{identity}.*.checkpoint.npz"):
            path.unlink(missing_ok=True)

    def kept(self, identity: str, label: str, kind: str) -> Path:
        """Where something else that a cell leaves behind on request is put."""
        return self.folder / f"{identity}.{label.replace('/', '-').replace(' ', '_')}.{kind}"


def _sound(path: Path, identity: str) -> tuple[bytes | None, str]:
    """What a cell's file holds, or nothing and why: its bytes must have their digest, and must be this cell's."""
    try:
        content = read(path)
        if path.stem.removeprefix(f"{identity}-") != _digest(content):
            return None, "is truncated or was changed"
        found = read_facts(content).get("identity")
    except (OSError, ValueError) as error:
        return None, f"cannot be read ({_reason(error)})"
    return (content, "") if found == identity else (None, f"holds another cell ({found})")


def _put_aside(path: Path) -> None:
    """Rename a file that cannot be used, so that nobody finds it and nothing of it is lost."""
    try:
        path.rename(path.with_name(f"{path.name}.damaged"))
    except OSError as error:
        raise UserError(f"cannot put {path} aside: {_reason(error)}") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def sweep(folder: Path) -> None:
    """Remove drafts that a killed process left; only for who holds the folder."""
    for path in folder.rglob(".*.draft"):
        path.unlink(missing_ok=True)


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays whole or not at all; numbers that NumPy has no type for (bfloat16) as float32, which holds them."""
    known = {name: a.astype(np.float32) if a.dtype.kind == "V" else a for name, a in arrays.items()}
    sink = io.BytesIO()
    np.savez(sink, **known)  # type: ignore[arg-type]
    content = sink.getvalue()
    write(path, _digest(content).encode() + content)


def load_arrays(path: Path, complain: Callable[[str], None]) -> dict[str, np.ndarray] | None:
    """A checkpoint, or nothing where there is none or it is damaged."""
    try:
        content = read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        complain(f"{path} cannot be read ({_reason(error)}): starting that population again")
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
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write to {folder}: {_reason(error)}") from error
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
