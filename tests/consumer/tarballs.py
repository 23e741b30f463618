# SPDX-License-Identifier: BSL-1.0
"""Source archives of Debian's packages, without a word in the system's own list of sources."""

import hashlib
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tools"))
import report  # noqa: E402


class Missing(Exception):
    """The archives cannot be had here; the text says why."""


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def source_entries():
    """The system's own Debian repositories, as entries for sources."""
    for narrow in (["Origin: Debian"], []):  # the origin is known only after an update
        said = report.run(["apt-get", "indextargets", "--format", "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)",
                           "Created-By: Packages", *narrow])
        rows = sorted({tuple(line.split("|")) for line in said.stdout.splitlines() if line.count("|") == 3})
        # the archives stand in the release itself; its updates only repeat the entries, at times without the files
        rows = [row for row in rows if "-" not in row[1]] or rows
        if said.returncode == 0 and rows:
            return "".join(f"deb-src {f'[signed-by={key}] ' if key.startswith('/') else ''}{uri} {release} {component}\n"
                           for uri, release, component, key in rows)
    raise Missing("apt knows of no repository")


def fetch(packages, folder):
    """Puts the upstream archives of source packages into a folder."""
    if not shutil.which("apt-get"):
        raise Missing("there is no apt-get")
    state = folder / "apt"
    (state / "lists/partial").mkdir(parents=True, exist_ok=True)
    (state / "archives/partial").mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text(source_entries())
    apt = ["apt-get", "-q", "-o", f"Dir::Etc::sourcelist={state / 'sources.list'}", "-o", "Dir::Etc::sourceparts=/dev/null",
           "-o", f"Dir::State::lists={state / 'lists'}", "-o", f"Dir::Cache={state}", "-o", "APT::Sandbox::User=root",
           "-o", "Acquire::Retries=2"]
    updated = report.run([*apt, "update"])
    # --tar-only: of the packaging itself nothing is needed
    fetched = report.run([*apt, "source", "--download-only", "--tar-only", *packages], cwd=folder)
    shutil.rmtree(state, ignore_errors=True)
    if fetched.returncode != 0:
        raise Missing((updated.stdout + fetched.stdout).strip().splitlines()[-1])
