#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What saving a checkpoint costs, each figure as a ratio to its measure in the same run (see checkpoint_store.cpp)."""

import pathlib

import figures

BOUNDS = {"snapshot_of_memcpy": ("most", 1.1), "save_of_write": ("least", 0.7)}


def main():
    parser = figures.parser(__doc__)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--folder", type=pathlib.Path, default=figures.ROOT / "build",
                        help="on the disk that is to be measured; default build/")
    wanted = parser.parse_args()
    with figures.folder(wanted.folder) as folder:
        found = figures.measure("checkpoint_store", folder, arguments=[folder, wanted.mib, wanted.rounds])
    figures.tell(found, BOUNDS, wanted)


main()
