# SPDX-License-Identifier: BSL-1.0
"""What the scripts of this folder share: the files that write_files.cpp writes, on each compiler."""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tools"))
import report  # noqa: E402

FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", f"-I{report.INCLUDE}"]
# the text that write_files.cpp calls odd, as a reader gets it: a byte that is no UTF-8 has been replaced
ODD = 'odd "name" \\ \n\t\x01 \u00e9 \ufffd'
HARD = [float.fromhex(digits) for digits in (
    "0x1.999999999999ap-4", "-0x0p+0", "0x0.0000000000001p-1022", "0x1.fffffffffffffp+1023", "0x1.5555555555555p-2",
    "0x1.b69b4ba630f35p+56", "0x1.0f0cf064dd592p+73", "0x1.0c6f7a0b5ed8dp-22")]


def write(compiler, folder, name="write_files"):
    """Compiles NAME.cpp and runs it on `folder`. None, or what went wrong."""
    with tempfile.TemporaryDirectory() as place:
        program = pathlib.Path(place) / name
        made = report.run([compiler, *FLAGS, HERE / f"{name}.cpp", "-o", program])
        if made.returncode != 0:
            return made.stdout
        ran = report.run([program, folder], timeout=300)
        return f"{name} ended with {ran.returncode}\n{ran.stdout}" if ran.returncode != 0 else None
