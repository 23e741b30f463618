#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What no compiler looks at: paths of one machine, hosts of package registries, words about how a text was made,
licence lines, the length of headers, white space, and that VERSION and version.hpp agree.

usage: lint.py [--self-test] [FOLDER]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

MAX_HEADER_LINES = 400
SOURCES = {".hpp", ".cpp", ".h", ".c", ".py", ".sh"}
SCRIPTS = {"dev", "run"}
BINARY = {".png", ".gz", ".xz", ".csv", ".pb", ".bin", ".safetensors"}
# this file's patterns have brackets in them, so that they do not match themselves
FORBIDDEN = [
    (re.compile(r"(?<![\w.$}~*-])/(?:[h]ome|[w]ork|[r]oot|[U]sers|[m]nt|[o]pt|[s]rv|[t]mp|[v]ar|[u]sr/(?!bin/env)|[e]tc)/[\w.]"),
     "a path of one machine"),
    (re.compile(r"[d]eb\.debian|[s]ecurity\.debian|[s]napshot\.debian|[f]tp\.debian|[a]rchive\.ubuntu|[l]aunchpad\.net|"
                r"[p]ypi\.org|[p]ythonhosted|[n]pmjs|[c]rates\.io|[c]onan\.io|[d]ocker\.io|[h]ub\.docker|[q]uay\.io|"
                r"[a]naconda\.org|[p]roxy\.golang|[r]ubygems"),
     "the host of a package registry"),
    (re.compile(r"\b(?:[c]hatbots?|[l]anguage models?|[L]LMs?|[C]hatGPT|[G]PT-\d|[C]laude|[A]nthropic|[O]penAI|[C]opilot|"
                r"[A]I[- ](?:generated|assisted|written)|[p]air programmer|[s]ub-?agents?|[i]ssue #?\d+)\b"),
     "words about how the text was made"),
]


def files_of(root):
    """What git tracks or would track; every file where there is no git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        files = [root / name for name in listed.stdout.split("\0") if name]
    else:
        files = [file for file in root.rglob("*") if not {"build", ".git", "__pycache__"} & set(file.relative_to(root).parts)]
    return sorted(file for file in files if file.is_file() and file.suffix not in BINARY)


def check_text(name, text):
    """All problems of one file."""
    lines = text.splitlines()
    path = pathlib.PurePosixPath(name)
    problems = []
    for number, line in enumerate(lines, 1):
        for pattern, what in FORBIDDEN:
            match = pattern.search(line)
            if match:
                problems.append(f"{name}:{number}: {what}: {match[0]}")
        if line != line.rstrip() and path.suffix != ".md":
            problems.append(f"{name}:{number}: white space at the end")
    if path.suffix in SOURCES or path.name in SCRIPTS:
        if not any("SPDX-License-Identifier: BSL-1.0" in line for line in lines[:3]):
            problems.append(f"{name}: no SPDX-License-Identifier: BSL-1.0 in the first three lines")
    if text and not text.endswith("\n"):
        problems.append(f"{name}: no newline at the end")
    if "\r" in text:
        problems.append(f"{name}: carriage returns")
    if path.parts[0] == "include":
        if len(lines) > MAX_HEADER_LINES:
            problems.append(f"{name}: {len(lines)} lines, at most {MAX_HEADER_LINES}")
        if path.suffix == ".hpp" and "#pragma once" not in lines[:5]:
            problems.append(f"{name}: no #pragma once in the first five lines")
    return problems


def check_version(root):
    version = (root / "VERSION").read_text().strip()
    header = (root / "include/tautline/version.hpp").read_text()
    parts = [re.search(rf"#define TAUTLINE_VERSION_{part}\s+(\d+)", header) for part in ("MAJOR", "MINOR", "PATCH")]
    if not all(parts):
        return "version.hpp lacks one of TAUTLINE_VERSION_{MAJOR,MINOR,PATCH}"
    told = ".".join(match[1] for match in parts)
    if told != version:
        return f"VERSION says {version}, version.hpp {told}"
    changes = root / "CHANGELOG.md"
    if changes.exists() and f"## [{version}]" not in changes.read_text():
        return f"CHANGELOG.md has no section {version}"
    return None


def play(root, tally):
    for file in files_of(root):
        name = file.relative_to(root).as_posix()
        try:
            tally.add(f"lint of {name}", "\n".join(check_text(name, file.read_text())) or None)
        except UnicodeDecodeError:
            tally.add(f"lint of {name}", "it is not UTF-8")
    tally.add("version", check_version(root))
    return tally


SPDX = "// SPDX-License-Identifier: BSL-1.0\n"
# name, text, and whether it must pass
SELF_TEST = [
    ("src/a.cpp", SPDX + "#include <a/home/b>  // see ~/tmp/x and ${ROOT}/work/y\n", True),
    ("a.py", "#!/usr/bin/env python3\n# SPDX-License-Identifier: BSL-1.0\nx = '/dev/null'\n", True),
    ("src/a.cpp", "int x;\n", False),
    ("src/a.cpp", SPDX + "int x; \n", False),
    ("src/a.cpp", SPDX + "int x;", False),
    ("docs/a.md", "see /" + "home/me/x\n", False),
    ("docs/a.md", "see '/" + "tmp/x'\n", False),
    ("docs/a.md", "http://deb" + ".debian.org/debian\n", False),
    ("docs/a.md", "https://pypi" + ".org/simple\n", False),
    ("docs/a.md", "written by a lang" + "uage model\n", False),
    ("docs/a.md", "fixes iss" + "ue #12\n", False),
    ("docs/a.md", "a session of LLVM, and an issue of style\n", True),
    ("include/tautline/a.hpp", SPDX + "#pragma once\n" + "\n" * 398, True),
    ("include/tautline/a.hpp", SPDX + "#pragma once\n" + "\n" * 399, False),
    ("include/tautline/a.hpp", SPDX + "int x;\n", False),
]


def self_test(tally):
    for number, (name, text, must_pass) in enumerate(SELF_TEST):
        problems = check_text(name, text)
        tally.add(f"self-test {number}", None if must_pass == (not problems) else f"{name}: {problems}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "include/tautline").mkdir(parents=True)
        header = "".join(f"#define TAUTLINE_VERSION_{part} {n}\n" for part, n in (("MAJOR", 1), ("MINOR", 2), ("PATCH", 3)))
        (root / "include/tautline/version.hpp").write_text(header)
        for version, must_pass in (("1.2.3", True), ("1.2.4", False)):
            (root / "VERSION").write_text(version + "\n")
            problem = check_version(root)
            tally.add(f"self-test version {version}", None if must_pass == (problem is None) else str(problem))
    return tally


def main(arguments):
    tally = report.Tally()
    folders = [pathlib.Path(word).resolve() for word in arguments if not word.startswith("--")]
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(folders[0] if folders else report.ROOT, tally)
    tally.close()


main(sys.argv[1:])
