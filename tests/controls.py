"""Makes the control rows of stored results again by today's code: python tests/controls.py NAME ...

For controls that changed after their tables were made. Networks are not trained again: the code that makes their rows
must be that of the commit which the result names, and this is checked. It needs a clean checkout, whose commit the
result then names beside that of its networks. `python tests/rejudge.py NAME ...` judges the tables anew.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from recombine import table as tables
from recombine.cli.results import Loaded, TierOptions, chosen_or_all, over_results
from recombine.engine import store
from recombine.engine.identity import code_files, code_hash, code_version

HERE = Path(__file__).resolve().parents[1]
ASK = """import sys
from recombine.engine import catalogue
from recombine.engine.identity import code_version
print(code_version(catalogue.find(sys.argv[1]).module))"""


def git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(HERE), *words], check=True, capture_output=True).stdout


def rows_code(name: str, commit: str) -> str:
    """The hash of the code that made an experiment's rows at a commit, by today's rule of what counts."""
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(git("archive", commit, "src"))) as archive:
            archive.extractall(folder, filter="data")
        for rule in ("identity.py", "sources.py"):
            shutil.copy(HERE / "src/recombine/engine" / rule, Path(folder, "src/recombine/engine"))
        path = {**os.environ, "PYTHONPATH": f"{folder}/src"}
        return subprocess.run(
            [sys.executable, "-c", ASK, name], check=True, capture_output=True, text=True, env=path, cwd=folder
        ).stdout.strip()


def again(one: Loaded) -> None:
    """Today's controls in place of those of one result."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    facts, now = store.read_json(one.folder / "settings.json"), code_version(one.experiment.module)
    if any(rows_code(one.experiment.name, commit) != now for commit in facts["commit"]):
        sys.exit(f"{one.title}: other code makes its networks today; run it again")
    whole = pq.read_table(io.BytesIO((one.folder / "table.parquet").read_bytes()))
    networks = whole.filter(pc.field("system") == tables.NETWORK)
    variants = {variant.name: variant for variant in one.experiment.variants}
    sink, parts = io.BytesIO(), []
    pq.write_table(networks, sink)
    for name in dict.fromkeys(whole["variant"].to_pylist()):
        settings = one.settings if name == tables.PRIMARY else variants[name].applied(one.settings)
        rows = store.table_bytes(one.experiment.module.controls(settings))
        parts.append(store.with_variant(rows, name, pictures=name == tables.PRIMARY))
    store.write(one.folder / "table.parquet", store.joined([sink.getvalue(), *parts]))
    files, commit = code_files(one.experiment.module), git("rev-parse", "HEAD").decode().strip()
    made = {"files": files, "code": code_hash(files), "controls_commit": commit}
    store.write_json(one.folder / "settings.json", facts | made)
    print(one.title, flush=True)


def main(names: list[str]) -> None:
    """Every stored result of these experiments."""
    if git("status", "--porcelain", "--", "src"):
        sys.exit("the source has changes that are not committed: a result could not name what made it")
    over_results(chosen_or_all(names), TierOptions(HERE / "results"), again)


if __name__ == "__main__":
    main(sys.argv[1:])
