#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the pages against the code: README.md, CHANGELOG.md, CONTRIBUTING.md and docs/**/*.md.

- A ```cpp block with an `int main` is compiled on every compiler with -Wall -Wextra -Werror and run; it must exit with 0.
  Words behind `cpp` that begin with `-` are flags for the compiler: ```cpp -fno-exceptions
  fmt is linked where the program includes it. Programs that include a header of TensorFlow are left out.
- Its output stands in the next block if that is ```text output (or plain ```text with one line between the two
  that says "output" or "prints"). `…` in it stands for any characters within a line.
- A ```cpp from PATH block must stand in that file of the repository, apart from its indentation.
- Relative links must lead to a file or folder of the repository, and to a heading where they name one.

usage: run.py [--self-test] [--tensorflow] [FILE...]
  --tensorflow   the programs with TensorFlow alone, and nothing else; it is installed below build/
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import packages  # noqa: E402
import report  # noqa: E402

FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{report.INCLUDE}"]
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`\n]*)$")
LINK = re.compile(r"(?<!!)\[[^\]\n]*(?:\n[^\]\n]*)?\]\(([^)\s]+)\)")
MAIN = re.compile(r"\bint\s+main\s*\(")


class Block:
    def __init__(self, info, line, before):
        self.info = info.split()
        self.line = line  # of the fence
        self.before = before  # the lines between this block and the one before
        self.lines = []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def is_a(self, language):
        return self.info[:1] == [language]


class Page:
    """A page's blocks, and its prose with the lines of the blocks left empty."""

    def __init__(self, file, root):
        self.file, self.root = file, root
        self.name = file.relative_to(root).as_posix()
        self.blocks, self.prose, self.open = [], [], None
        between = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            fence = FENCE.match(line)
            if self.open is None and fence:
                self.open = fence
                self.blocks.append(Block(fence["info"], number, between))
                self.prose.append("")
            elif self.open is not None and fence and fence["fence"].startswith(self.open["fence"]) and not fence["info"]:
                self.open, between = None, []
                self.prose.append("")
            elif self.open is not None:
                self.blocks[-1].lines.append(line.removeprefix(self.open["indent"]))
                self.prose.append("")
            else:
                between.append(line)
                self.prose.append(line)

    def output_behind(self, index):
        """The block with the output of the program at `index`, or None."""
        if index + 1 == len(self.blocks) or not self.blocks[index + 1].is_a("text"):
            return None
        block = self.blocks[index + 1]
        words = [line for line in block.before if line.strip()]
        told = len(words) == 1 and re.search(r"\b(output|prints?)\b", words[0], re.IGNORECASE)
        return block if "output" in block.info[1:] or told else None

    def anchors(self):
        found = set()
        for line in self.prose:
            heading = re.match(r"#+\s+(.*?)\s*#*$", line)
            if heading:
                words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
                found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
        return found


def build(source, compiler, flags, folder, tensorflow=None):
    """@return the program, or what the compiler said"""
    made, depends, program = folder / "snippet.o", folder / "snippet.d", folder / "snippet"
    (folder / "snippet.cpp").write_text(source)
    if tensorflow:
        flags = [*flags, *tensorflow.compile_args]
    compiled = report.run([compiler, *FLAGS, *flags, "-MD", "-c", "snippet.cpp", "-o", made.name], cwd=folder)
    if compiled.returncode != 0:
        return compiled.stdout
    libraries = ["-lfmt"] if "/fmt/" in depends.read_text() else []
    libraries += tensorflow.link_args if tensorflow else []
    linked = report.run([compiler, "-pthread", made, "-o", program, *libraries])
    return program if linked.returncode == 0 else linked.stdout


def run(program, folder):
    """@return what it printed, and what is wrong with how it ended"""
    # what is written to the second stream is told if the program fails, and is no part of its output
    try:
        ran = report.run([program], cwd=folder, stderr=subprocess.PIPE, timeout=300)
    except subprocess.TimeoutExpired:
        return "", "it does not come to an end"
    return ran.stdout, f"exited with {ran.returncode}\n{ran.stdout}{ran.stderr}" if ran.returncode != 0 else None


def differs(expected, printed):
    """None, or the first line that is not as the page says."""
    wanted, got = expected.rstrip().splitlines(), printed.rstrip().splitlines()
    for number in range(max(len(wanted), len(got))):
        line = wanted[number].rstrip() if number < len(wanted) else None
        found = got[number].rstrip() if number < len(got) else None
        same = line is not None and found is not None and re.fullmatch(
            ".*".join(re.escape(part) for part in line.split("…")), found)
        if not same:
            return f"line {number + 1} of the output is\n  {found}\nthe page says\n  {line}"
    return None


def check_program(case):
    page, index, compiler, tensorflow = case
    block, output = page.blocks[index], page.output_behind(index)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(block.text, compiler, [word for word in block.info[1:] if word.startswith("-")], folder,
                        tensorflow)
        if isinstance(program, str):
            return program
        printed, problem = run(program, folder)
        return problem or (differs(output.text, printed) if output else None)


def dedented(text):
    return [line.strip() for line in text.strip().splitlines()]


def check_copy(page, block):
    source = page.root / block.info[2]
    if not source.is_file():
        return f"there is no {block.info[2]}"
    # indentation within the block counts, that of the whole block does not
    shape = [len(line) - len(line.lstrip()) for line in block.lines if line.strip()]
    words, lines = dedented(block.text), source.read_text().splitlines()
    for start in range(len(lines) - len(words) + 1):
        part = lines[start:start + len(words)]
        if [line.strip() for line in part] == words:
            theirs = [len(line) - len(line.lstrip()) for line in part if line.strip()]
            if [a - shape[0] for a in shape] == [a - theirs[0] for a in theirs]:
                return None
    return f"this block does not stand in {block.info[2]}"


def check_links(page):
    problems, pages = [], {page.file: page}
    for match in LINK.finditer("\n".join(page.prose)):
        path, _, anchor = match[1].partition("#")
        if re.match(r"[a-z]+:", match[1]):
            continue
        target = (page.file.parent / path).resolve() if path else page.file
        if not target.exists():
            problems.append(f"there is no {match[1]}")
        elif page.root not in [target, *target.parents]:
            problems.append(f"{match[1]} leads out of the repository")
        elif anchor and target.suffix == ".md":
            if target not in pages:
                pages[target] = Page(target, page.root)
            if anchor not in pages[target].anchors():
                problems.append(f"{match[1]}: there is no such heading")
    return "\n".join(problems) or None


def play(files, tally, root=report.ROOT, tensorflow=None):
    """@param tensorflow: the package with which the programs that need it are played, and nothing else"""
    cases = []
    for file in files:
        page = Page(file, root)
        programs = [index for index, block in enumerate(page.blocks) if block.is_a("cpp")
                    and block.info[1:2] != ["from"] and MAIN.search(block.text)
                    and report.includes_tensorflow(block.text) == bool(tensorflow)]
        cases += [(page, index, compiler, tensorflow) for index in programs for compiler in report.compilers()]
        if tensorflow:
            continue
        if page.open is not None:
            tally.add(page.name, "a block is not closed")
        tally.add(f"links of {page.name}", check_links(page))
        for index, block in enumerate(page.blocks):
            if block.is_a("cpp") and block.info[1:2] == ["from"]:
                tally.add(f"{page.name}:{block.line}", check_copy(page, block))
            elif block.is_a("text") and "output" in block.info[1:]:
                before = page.blocks[index - 1] if index else None
                if before is None or not before.is_a("cpp") or not MAIN.search(before.text):
                    tally.add(f"{page.name}:{block.line}", "this output has no program before it")
    for (page, index, compiler, _), problem in zip(cases, report.in_parallel(check_program, cases)):
        tally.add(f"{page.name}:{page.blocks[index].line} on {compiler}", problem)
    return tally


GOOD = '```cpp\n#include <cstdio>\nint main() { std::puts("one");  std::puts("12 two"); }\n```\n'
# a page, and whether it must pass
SELF_TEST = {
    "good": (True, GOOD),
    "output": (True, GOOD + "```text output\none\n12 two\n```\n"),
    "wrong_output": (False, GOOD + "```text output\none\n12 three\n```\n"),
    "more_output": (False, GOOD + "```text output\none\n```\n"),
    "less_output": (False, GOOD + "```text output\none\n12 two\nthree\n```\n"),
    "any": (True, GOOD + "```text output\none\n… two\n```\n"),
    "any_within_a_line": (False, GOOD + "```text output\none…\n```\n"),
    "told_by_a_line": (False, GOOD + "\nIt prints\n\n```text\nother\n```\n"),
    "other_text": (True, GOOD + "\nSee also:\n\n```text\nother\n```\n"),
    "output_of_nothing": (False, "```text output\none\n```\n"),
    "does_not_compile": (False, "```cpp\nint main() { return x; }\n```\n"),
    "warning": (False, "```cpp\nint main() { int x; }\n```\n"),
    "does_not_link": (False, "```cpp\nvoid f();\nint main() { f(); }\n```\n"),
    "exits_with_1": (False, "```cpp\nint main() { return 1; }\n```\n"),
    "aborts": (False, "```cpp\n#include <cstdlib>\nint main() { std::abort(); }\n```\n"),
    "flags": (False, "```cpp -fno-exceptions\nint main() { throw 1; }\n```\n"),
    "fragment": (True, "```cpp\nno program at all\n```\n"),
    "in_a_list": (False, "- a\n\n  ```cpp\n  int main() { return 1; }\n  ```\n"),
    "second_of_two": (False, GOOD + "```cpp\nint main() { return 1; }\n```\n"),
    "not_closed": (False, "```text\n"),
    "copy": (True, "```cpp from code.hpp\nint two() {\n  return 2;\n}\n```\n"),
    "wrong_copy": (False, "```cpp from code.hpp\nint two() {\n  return 3;\n}\n```\n"),
    "wrong_shape": (False, "```cpp from code.hpp\nint two() {\nreturn 2;\n}\n```\n"),
    "copy_of_nothing": (False, "```cpp from other.hpp\nint two() {\n```\n"),
    "link": (True, "# A `b` c\n\n[x](code.hpp) [y](#a-b-c) [z](https://example.org/nothing)\n"),
    "broken_link": (False, "[x](other.hpp)\n"),
    "broken_in_two_lines": (False, "[x\ny](other.hpp)\n"),
    "broken_anchor": (False, "# A\n\n[x](#b)\n"),
    "link_out": (False, "[x](../)\n"),
    "link_in_a_block": (True, "```text\n[x](other.hpp)\n```\n"),
}


def self_test(tally):
    for name, (must_pass, text) in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "code.hpp").write_text("struct s {\n  int one() { return 1; }\n  int two() {\n    return 2;\n  }\n};\n")
            (root / "page.md").write_text(text)
            inner = play([root / "page.md"], report.Tally(quiet=True), root)
            tally.add(f"self-test {name}", None if inner.good() == must_pass else f"the wrong verdict: {inner.closing()}")
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder).resolve() / "page.md"
        page.write_text("```cpp\n#include <tautline/sessions/tensorflow.hpp>\nint main() { return x; }\n```\n")
        with_it, without = (play([page], report.Tally(quiet=True), page.parent, it) for it in (NoTensorFlow, None))
        tally.add("self-test of a program with TensorFlow", None if with_it.failed > 0 and without.failed == 0 else "the wrong verdict")
    return tally


class NoTensorFlow:
    compile_args = link_args = ()


def pages():
    top = [report.ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    return [file for file in top if file.exists()] + sorted((report.ROOT / "docs").rglob("*.md"))


def shows_the_loop():
    page = Page(report.ROOT / "docs/why-a-coroutine.md", report.ROOT)
    return any(block.info[1:2] == ["from"] and "co_yield" in block.text for block in page.blocks)


def main(arguments):
    tally = report.Tally()
    files = [pathlib.Path(word).resolve() for word in arguments if not word.startswith("--")]
    tensorflow = packages.tensorflow() if "--tensorflow" in arguments else None
    if "--self-test" in arguments:
        self_test(tally)
    else:
        play(files or pages(), tally, tensorflow=tensorflow)
        if tensorflow and not tally.passed + tally.failed:
            print("SKIPPED: no page has a program with TensorFlow")
            sys.exit(report.SKIPPED)
        if not files and not tensorflow:
            tally.add("the loop is shown", None if shows_the_loop() else "docs/why-a-coroutine.md has no copy of the coroutine")
    tally.close()


main(sys.argv[1:])
