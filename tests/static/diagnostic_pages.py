#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Holds the messages of the headers and the pages in docs/diagnostics together.

- Every "tautline: …" message of a static_assert or an attribute in include/ says how to mend it ("Mend: …").
- Its first sentence stands in a page of docs/diagnostics.
- Every page quotes a message that exists, in a ```text block that begins with `tautline:`, and stands in the index.

usage: diagnostic_pages.py [--self-test]
"""

import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

PAGES = report.ROOT / "docs" / "diagnostics"
LITERALS = re.compile(r'"tautline: (?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')


def messages(text):
    """The compile-time messages in a header's text, each as one line."""
    found = []
    for match in LITERALS.finditer(text):
        pieces = re.findall(r'"((?:[^"\\\n]|\\.)*)"', match[0])
        found.append(re.sub(r"\\(.)", r"\1", "".join(pieces)))
    return found


def first_sentence(message):
    return re.split(r"\. Mend: |\. |$", message, maxsplit=1)[0]


def quoted(page):
    """The messages that a page quotes, each on one line."""
    blocks = re.findall(r"^```text\n(tautline: .*?)\n```$", page, flags=re.MULTILINE | re.DOTALL)
    return [re.sub(r"\s+", " ", block) for block in blocks]


def check(include, pages):
    """(name, problem or None) for each message and page."""
    texts = {page.name: page.read_text() for page in sorted(pages.glob("*.md")) if page.name != "README.md"}
    index = (pages / "README.md").read_text() if (pages / "README.md").exists() else ""
    all_quotes = [quote for text in texts.values() for quote in quoted(text)]
    sentences = set()
    for header in sorted(include.rglob("*.hpp")):
        for message in messages(header.read_text()):
            sentence = first_sentence(message)
            sentences.add(sentence)
            name = f"{header.name}: {sentence}"
            if "Mend: " not in message:
                yield name, "it does not say how to mend it"
            elif not any(first_sentence(quote) == sentence for quote in all_quotes):
                yield name, f"no page in {pages.name} quotes it"
            else:
                yield name, None
    for page, text in texts.items():
        stale = [quote for quote in quoted(text) if first_sentence(quote) not in sentences]
        if not quoted(text):
            yield page, "it quotes no message"
        elif stale:
            yield page, f"no header has the message: {stale[0]}"
        elif f"({page})" not in index:
            yield page, "it does not stand in README.md"
        else:
            yield page, None


HEADER = 'static_assert(x, "tautline: a is b, as in c<\\"d\\">. "\n  "Mend: make it c");\n'
PAGE = '# A\n\n```text\ntautline: a is b,\nas in c<"d">. Mend: make it c\n```\n'
# header, page, index, number of problems
SELF_TEST = {
    "good": (HEADER, PAGE, "[A](a.md)", 0),
    "no page quotes it": (HEADER, PAGE.replace("a is b", "a was b"), "[A](a.md)", 2),
    "no mend": (HEADER.replace("Mend: m", "M"), PAGE, "[A](a.md)", 1),
    "not in the index": (HEADER, PAGE, "", 1),
    "a page without a message": (HEADER, PAGE + "\n", "[A](a.md) [B](b.md)", 1),
}


def self_test(tally):
    for name, (header, page, index, expected) in SELF_TEST.items():
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "h.hpp").write_text(header)
            (root / "a.md").write_text(page)
            (root / "README.md").write_text(index)
            if "b.md" in index:
                (root / "b.md").write_text("# B\n")
            problems = [problem for _, problem in check(root, root) if problem]
            tally.add(f"self-test {name}", None if len(problems) == expected else f"{problems}, expected {expected}")


def main(arguments):
    tally = report.Tally()
    if "--self-test" in arguments:
        self_test(tally)
    else:
        for name, problem in check(report.INCLUDE, PAGES):
            tally.add(name, problem)
    tally.close()


if __name__ == "__main__":
    main(sys.argv[1:])
