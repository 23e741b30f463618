#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The example in examples/tensorflow, and that Python reads the checkpoints which it leaves.

usage: example.py     by the Python that has TensorFlow
"""

import os
import sys
import tempfile

import common
from common import report

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
EXAMPLES = report.ROOT / "examples"


def main():
    tally = report.Tally()
    program = common.program("digits")
    with tempfile.TemporaryDirectory() as folder:
        ran = report.run([sys.executable, EXAMPLES / "tensorflow/test_digits.py", program, EXAMPLES / "data/digits.csv", folder],
                         env=common.environment())
        tally.add("examples/tensorflow/digits.cpp", ran.stdout if ran.returncode != 0 else None)
        if ran.returncode == 0:
            import tensorflow.compat.v1 as tf

            latest = tf.train.latest_checkpoint(folder)
            shapes = tf.train.load_checkpoint(latest).get_variable_to_shape_map() if latest else None
            expected = {"w1": [64, 32], "b1": [32], "w2": [32, 10], "b2": [10], "global_step": []}
            tally.add("its checkpoint read by Python", None if shapes == expected else f"{latest}: {shapes}")
    tally.close()


main()
