# SPDX-License-Identifier: BSL-1.0
"""The graphs that both sides train, made by TensorFlow's Python, and the files in which the other side gets them.

All are a network 64-16-10 on the digits, with seeds on the graph and on the operations. `fed`: the old reference variables,
momentum, batches that a hook feeds. `dataset`: resource variables, Adam, a shuffled tf.data input in the graph, which the
local init op starts. `saved_place`: the same, but the input's place is saved with the variables; it starts itself, since
a place is restored before the local init op runs.
"""

import pathlib

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.training import training_util

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROWS = 480
BATCH = 32
SEED = 20


def digits():
    """@return pictures, ROWS × 64 with numbers from 0 to 1, and the digits"""
    table = np.loadtxt(ROOT / "examples/data/digits.csv", delimiter=",", dtype=np.int64, max_rows=ROWS)
    return (table[:, :64] / np.float32(16)).astype(np.float32), table[:, 64]


def batch(step, data):
    """The batch of a step, for a graph that is fed: the program of the other side cuts it from the same file."""
    rows = (np.arange(BATCH) + (step - 1) * BATCH) % ROWS
    return data[0][rows], data[1][rows]


def session_config():
    """One thread for each: sums then have one order. Without it, equal bits are what one usually sees, but no promise."""
    return tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)


def _input(data, place_is_saved, ends):
    dataset = tf.data.Dataset.from_tensor_slices((data[0], data[1]))
    dataset = dataset.shuffle(ROWS, seed=SEED).repeat(1 if ends else None).batch(BATCH, drop_remainder=True)
    if place_is_saved:
        iterator = tf.data.make_one_shot_iterator(dataset)
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    else:
        iterator = tf.data.make_initializable_iterator(dataset)
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


def build(kind, dropout, poison_at=None, ends=False):
    """Fills the current graph. @param dropout "stateful": by the seeds of the graph and the operation, so it goes on from
    its beginning after a resume; "by_step": a function of the global step, so a resumed training is exact
    @param poison_at the step whose loss becomes (number, step): NaN or infinite
    @param ends whether the input has only one epoch, of 15 steps"""
    tf.set_random_seed(SEED)
    step = tf.train.get_or_create_global_step()
    # What the original's hooks read in a run. Without an order it is a race with the increment, and hooks act one step
    # early now and then; estimators order it before the training operation as it is done here.
    read_step = training_util._get_or_create_global_step_read()
    use_resource = kind != "fed"
    if use_resource:
        pictures, answers = _input(digits(), kind == "saved_place", ends)
    else:
        pictures = tf.placeholder(tf.float32, [None, 64], name="pictures")
        answers = tf.placeholder(tf.int64, [None], name="answers")

    def layer(value, outputs, name):
        with tf.variable_scope(name, use_resource=use_resource):
            weights = tf.get_variable("weights", [value.shape[1], outputs],
                                      initializer=tf.glorot_uniform_initializer(seed=SEED))
            biases = tf.get_variable("biases", [outputs], initializer=tf.zeros_initializer())
            return tf.nn.bias_add(tf.matmul(value, weights), biases)

    hidden = tf.nn.relu(layer(pictures, 16, "hidden"), name="hidden_out")
    shape = tf.shape(hidden)
    if dropout == "stateful":
        chance = tf.random.uniform(shape, seed=SEED + 1)
        other = tf.random.uniform(shape)  # no seed of its own: that of the graph and its place in it
        kept = tf.logical_and(chance > 0.2, other > 0.01)
    else:
        with tf.control_dependencies([step]):
            kept = tf.random.stateless_uniform(shape, seed=tf.stack([tf.identity(step), SEED])) > 0.2
    logits = tf.identity(layer(tf.where(kept, hidden / 0.8, tf.zeros_like(hidden)), 10, "out"), name="logits")
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=answers, logits=logits))
    if poison_at is not None:
        number, at = poison_at
        loss = loss * tf.where(tf.equal(step, at - 1), float(number), 1.0)
    loss = tf.identity(loss, name="loss")
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), answers), tf.float32), name="accuracy")
    tf.summary.scalar("loss_curve", loss)
    tf.summary.scalar("accuracy_curve", accuracy)
    tf.summary.histogram("hidden_spread", hidden)
    optimizer = tf.train.AdamOptimizer(0.01) if use_resource else tf.train.MomentumOptimizer(0.1, 0.9)
    with tf.control_dependencies([read_step]):
        optimizer.minimize(loss, global_step=step, name="train")


def export(kind, folder, **how):
    """Writes KIND.meta with the collections of a finalized scaffold, KIND.pb, KIND_saved/ (tag "train"; its variables are
    not those that the init op makes), and what only the collections would have told: KIND.names, a line each."""
    with tf.Graph().as_default() as graph:
        build(kind, **how)
        scaffold = tf.train.Scaffold().finalize()
        tf.train.export_meta_graph(str(folder / f"{kind}.meta"), graph=graph, saver_def=scaffold.saver.saver_def)
        (folder / f"{kind}.pb").write_bytes(graph.as_graph_def().SerializeToString())
        saver = scaffold.saver.saver_def
        names = {"init": scaffold.init_op.name, "local_init": scaffold.local_init_op.name,
                 "ready": scaffold.ready_op.name, "summary": scaffold.summary_op.name,
                 "filename": saver.filename_tensor_name, "save": saver.save_tensor_name, "restore": saver.restore_op_name}
        (folder / f"{kind}.names").write_text("".join(f"{key} {value}\n" for key, value in names.items()))
    with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=session_config()) as session:
        build(kind, **how)
        scaffold = tf.train.Scaffold().finalize()
        session.run(scaffold.init_op)
        session.run(scaffold.local_init_op)
        biases = next(each for each in tf.global_variables() if each.op.name == "hidden/biases")
        biases.load(np.full(16, 0.25, np.float32), session)
        graph._unsafe_unfinalize()  # a SavedModel gets save and restore ops of its own
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder / f"{kind}_saved"))
        builder.add_meta_graph_and_variables(session, ["train"], main_op=scaffold.local_init_op)
        builder.save()
