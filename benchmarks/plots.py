# SPDX-License-Identifier: BSL-1.0
"""Plots of the page of figures, by gnuplot: one colour and one mark a series, readable on white and on black."""

import hashlib
import re
import subprocess
import sys

GREY = "#808080"  # lines and words: seen on both
COLOURS = {
    "hand": "#808080", "hand_local": "#a0a0a0", "fused": "#e0592a", "coroutine": "#d99a00",
    "coroutine_pace_100": "#ead08a", "classic": "#a8702a",
    "virtual": "#2f88c8", "function": "#7d6ad8", "signals2": "#27a17c", "ensmallen": "#c2559b",
    "g++": "#e0592a", "clang++-19": "#2f88c8", "writers_off_thread": "#e0592a", "writers_on_thread": "#2f88c8",
    "bare": "#808080",
}
MARKS = {"hand": 2, "hand_local": 1, "fused": 7, "coroutine": 9, "coroutine_pace_100": 8, "classic": 11, "virtual": 5,
         "function": 13, "signals2": 4, "ensmallen": 6}


class Plot:
    """@param series of name, title, points; a point is (x, y)"""

    def __init__(self, title, x, y, series, log="", ticks=None, lines=True, height=380, more=()):
        self.title, self.x, self.y, self.log, self.ticks = title, x, y, log, ticks
        self.series = [one for one in series if one[2]]
        self.lines, self.height, self.more = lines, height, more

    def script(self):
        """What gnuplot is told; the numbers are in it."""
        words = [
            f"set terminal svg size 760,{self.height} dynamic font 'sans-serif,13'",
            f"set border 3 linecolor rgb '{GREY}'", f"set tics nomirror textcolor rgb '{GREY}'",
            f"set grid ytics linecolor rgb '{GREY}' linewidth 0.3",
            f"set title '{self.title}' noenhanced textcolor rgb '{GREY}'",
            f"set xlabel '{self.x}' textcolor rgb '{GREY}'", f"set ylabel '{self.y}' textcolor rgb '{GREY}'",
            f"set key outside right top Left reverse noenhanced textcolor rgb '{GREY}' samplen 2 spacing 1.2",
        ]
        if self.log:
            words.append(f"set logscale {self.log}")
        if self.ticks:
            words += [f"set xtics ({', '.join(f'{chr(34)}{name}{chr(34)} {place}' for name, place in self.ticks)})"]
        words += self.more
        drawn = []
        for number, (name, title, points) in enumerate(self.series):
            words.append(f"$series{number} << EOD\n" + "\n".join(f"{x:.6g} {y:.6g}" for x, y in points) + "\nEOD")
            colour, mark = COLOURS.get(name, GREY), MARKS.get(name, 7)
            style = "linespoints linewidth 2" if self.lines else "points"
            drawn.append(f"$series{number} with {style} pointtype {mark} pointsize 0.8 linecolor rgb '{colour}' "
                         f"title '{title}'")
        return "\n".join(words) + "\nplot " + ", \\\n".join(drawn) + "\n"

    def svg(self):
        """The picture, with what it was made from in its first comment."""
        made = subprocess.run(["gnuplot", "-"], input=self.script(), capture_output=True, text=True, check=False)
        if made.returncode != 0 or not made.stdout.startswith("<?xml"):
            sys.exit(f"gnuplot: {made.stderr or made.stdout}\n{self.script()}")
        return stamped(plain(made.stdout), self.script())


def plain(svg):
    """Without the version of what drew it, and without spaces at the ends of lines."""
    svg = re.sub(r"<desc>.*?</desc>\n?", "", svg, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamped(svg, script):
    """With a line that tells of what numbers it was drawn, and that it is as it was drawn."""
    head, line, rest = svg.partition("\n")
    return f"{head}{line}<!-- drawn from {digest(script)}, as {digest(rest)} -->\n{rest}"


def problem_of(svg, script):
    """Why a picture is not the one of the script, told without drawing it anew; None if it is."""
    found = re.search(r"\n<!-- drawn from (\w+), as (\w+) -->\n", svg)
    if not found:
        return "it does not tell what it was drawn from"
    if found[1] != digest(script):
        return "it was drawn from other numbers"
    return None if found[2] == digest(svg[found.end():]) else "it was changed after it was drawn"
