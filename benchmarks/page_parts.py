# SPDX-License-Identifier: BSL-1.0
"""Numbers, tables and paragraphs of a page, in Markdown. What was not measured is a dash."""

import textwrap


def number(value):
    """A number for people: three digits, hundredths at the least, and no exponent."""
    if value is None:
        return "–"
    whole = f"{value:.3g}" if abs(value) >= 1 else f"{value:.2f}"
    if "e" in whole:
        whole = f"{value:.0f}"
    return whole.replace("-0.00", "0.00")


def fixed(value, places=2):
    if value is None:
        return "–"
    text = f"{value:.{places}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def table(head, rows):
    """Markdown; the first column is of words. Rows and columns without a measured cell are left out; "" if all are."""
    rows = [row for row in rows if any(cell != "–" for cell in row[1:])]
    if not rows:
        return ""
    kept = [place for place in range(len(head)) if place == 0 or any(row[place] != "–" for row in rows)]
    head, rows = [head[place] for place in kept], [[row[place] for place in kept] for row in rows]
    lines = [head, [":--" if place == 0 else "--:" for place in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n\n"


def paragraph(*parts):
    text = " ".join(" ".join(parts).split())
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False) + "\n\n"
