#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""How long a saving in the background blocks the step, as a ratio to a memcpy of the same bytes (see saving.cpp)."""

import figures
import report

BOUNDS = {"step_due_over_memcpy": ("most", 1.5)}


def main():
    wanted = figures.parser(__doc__).parse_args()
    found = {}
    for compiler in report.COMPILERS:
        with figures.folder() as folder:
            measured = figures.measure("saving", folder, compiler, ["-pthread"], [folder])
        found.update({f"{name}/{compiler}": value for name, value in measured.items()})
    figures.tell(found, BOUNDS, wanted)


main()
