#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What logging, summaries and saving beside the loop leave on the thread of the steps (see off_the_step.cpp)."""

import figures

BOUNDS = {"step_p999_ratio": ("most", 1.2), "step_p999_least_ratio": ("most", 1.2), "step_records_dropped": ("most", 0),
          "add_scalar_ns": ("most", 100), "add_scalar_to_clock": ("most", 3)}


def main():
    wanted = figures.parser(__doc__).parse_args()
    with figures.folder() as folder:
        found = figures.measure("off_the_step", folder, flags=["-pthread", "-lfmt"])
    found = {name.removeprefix("off_the_step/") if "/jitter/" in name else name: value for name, value in found.items()}
    figures.tell(found, BOUNDS, wanted)


main()
