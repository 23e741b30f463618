# SPDX-License-Identifier: BSL-1.0
"""Writes what the tests of the TensorFlow backend read: files made by Python TensorFlow, and beside each what Python's
own protocol buffers say that it holds. Run as `fixtures.py FOLDER`; the programs find the folder by TAUTLINE_TENSORFLOW_FILES."""

import os
import pathlib
import shutil
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# pylint: disable=wrong-import-position
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import variable_pb2
from tensorflow.core.protobuf import cluster_pb2, config_pb2, meta_graph_pb2, saved_model_pb2, tensorflow_server_pb2

tf.disable_eager_execution()

VARIABLES = {"variables", "local_variables", "metric_variables", "model_variables", "trainable_variables",
             "moving_average_variables", "global_step"}


def listed(values):
    return "[" + ",".join(str(value) for value in values) + "]"


def described_variable(key, data):
    one = variable_pb2.VariableDef.FromString(data)
    part = one.save_slice_info_def
    return (f"variable {key} {one.variable_name} {one.initial_value_name} {one.initializer_name} {one.snapshot_name} "
            f"{int(one.is_resource)} {int(one.trainable)} {part.full_name} {listed(part.full_shape)} "
            f"{listed(part.var_offset)} {listed(part.var_shape)}")


def described_tensor(where, key, info):
    sparse = info.coo_sparse
    shape = info.tensor_shape
    rank_known = info.HasField("tensor_shape") and not shape.unknown_rank
    return (f"{where} {key} {info.name} {info.dtype} {int(not rank_known)} {listed(dim.size for dim in shape.dim)} "
            f"{sparse.values_tensor_name} {sparse.indices_tensor_name} {sparse.dense_shape_tensor_name}")


def described(meta):
    """All that a meta graph says, line by line, sorted."""
    info, saver = meta.meta_info_def, meta.saver_def
    lines = [f"info {info.meta_graph_version} {info.tensorflow_version} {info.tensorflow_git_version}",
             "tags " + listed(info.tags)]
    if meta.HasField("saver_def"):
        lines.append(f"saver {saver.filename_tensor_name} {saver.save_tensor_name} {saver.restore_op_name} "
                     f"{saver.max_to_keep} {int(saver.sharded)} {saver.keep_checkpoint_every_n_hours:g} {saver.version}")
    for key, collection in meta.collection_def.items():
        kind = collection.WhichOneof("kind")
        values = getattr(collection, kind).value
        if kind == "bytes_list" and key in VARIABLES:
            lines += [described_variable(key, data) for data in values]
        elif kind == "bytes_list":
            lines.append(f"collection {key} bytes_list " + listed(len(data) for data in values))
        elif kind == "any_list":
            lines.append(f"collection {key} any_list " + listed(one.ByteSize() for one in values))
        elif kind == "float_list":
            lines.append(f"collection {key} float_list " + listed(f"{value:g}" for value in values))
        else:
            lines.append(f"collection {key} {kind} " + listed(values))
    for key, signature in meta.signature_def.items():
        lines.append(f"signature {key} {signature.method_name}")
        lines += [described_tensor(f"input {key}", name, one) for name, one in signature.inputs.items()]
        lines += [described_tensor(f"output {key}", name, one) for name, one in signature.outputs.items()]
    assets = list(meta.asset_file_def)
    if not assets and "saved_model_assets" in meta.collection_def:  # where tf.saved_model.Builder writes them
        assets = [meta_graph_pb2.AssetFileDef.FromString(one.value)
                  for one in meta.collection_def["saved_model_assets"].any_list.value]
    lines += [f"asset {one.tensor_info.name} {one.filename}" for one in assets]
    lines += [f"node {node.name}" for node in meta.graph_def.node]
    return "\n".join(sorted(lines)) + "\n"


def training_graph():
    """Variables of both kinds, one in parts, a local one, a global step, summaries."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", [2, 1], use_resource=True)
    old = tf.get_variable("old", [1], use_resource=False, initializer=tf.zeros_initializer())
    tf.get_variable("split", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    tf.get_variable("constant", [], trainable=False, initializer=tf.ones_initializer())
    tf.get_variable("seen", [], collections=[tf.GraphKeys.LOCAL_VARIABLES], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + old), name="loss")
    tf.summary.scalar("loss", loss)
    tf.add_to_collection("sizes", 3)
    tf.add_to_collection("sizes", -5)
    tf.add_to_collection("rates", 0.25)
    tf.add_to_collection("words", "one")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step, name="train")
    return x, loss, train


def write_scaffold(folder):
    """The .meta of a graph that a Scaffold finalized, as tf.train.MonitoredTrainingSession does."""
    with tf.Graph().as_default() as graph:
        training_graph()
        scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=7, sharded=True))
        scaffold.finalize()
        tf.train.export_meta_graph(str(folder / "scaffold.meta"), graph=graph, saver_def=scaffold.saver.saver_def)
    data = (folder / "scaffold.meta").read_bytes()
    (folder / "scaffold.txt").write_text(described(meta_graph_pb2.MetaGraphDef.FromString(data)))


def write_small(folder):
    """A meta graph of each kind of part, small enough to be damaged in each of its bytes."""
    with tf.Graph().as_default():
        tf.get_variable("w", [2], use_resource=True)
        tf.add_to_collection("sizes", 300)
        tf.add_to_collection("rates", 0.25)
        tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.global_variables_initializer())
        meta = tf.train.export_meta_graph(saver_def=tf.train.Saver().saver_def, clear_extraneous_savers=True,
                                          strip_default_attrs=True)
    meta.meta_info_def.ClearField("stripped_op_list")
    for node in meta.graph_def.node:
        node.ClearField("attr")
    del meta.graph_def.node[4:]
    signature = meta.signature_def["serve"]
    signature.inputs["x"].name = "x:0"
    signature.outputs["y"].tensor_shape.dim.add().size = -1
    meta.asset_file_def.add().filename = "words.txt"
    (folder / "small.meta").write_bytes(meta.SerializeToString(deterministic=True))
    saved = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    meta.meta_info_def.tags.append("train")
    saved.meta_graphs.append(meta)
    (folder / "small.pb").write_bytes(saved.SerializeToString(deterministic=True))


def write_saved_model(folder):
    """Two graphs, {"train"} and {"serve", "cpu"}, with an asset, a sparse input and a main op."""
    target = folder / "saved_model"
    shutil.rmtree(target, ignore_errors=True)
    (folder / "words.txt").write_text("one\ntwo\n")
    builder = tf.saved_model.Builder(str(target))
    for tags in (["train"], ["serve", "cpu"]):
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            x, loss, _ = training_graph()
            file = tf.constant(str(folder / "words.txt"), name="words")
            tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, file)
            sparse = tf.sparse_placeholder(tf.float32, [None, 3], name="sparse")
            session.run(tf.global_variables_initializer())
            signature = tf.saved_model.build_signature_def(
                {"x": tf.saved_model.build_tensor_info(x), "sparse": tf.saved_model.build_tensor_info(sparse)},
                {"loss": tf.saved_model.build_tensor_info(loss)}, "tensorflow/serving/predict")
            more = {"signature_def_map": {"serving_default": signature}, "main_op": tf.tables_initializer(),
                    "assets_collection": [file]}
            if tags == ["train"]:
                builder.add_meta_graph_and_variables(session, tags, **more)
            else:
                builder.add_meta_graph(tags, **more)
    builder.save()
    saved = saved_model_pb2.SavedModel.FromString((target / "saved_model.pb").read_bytes())
    for meta in saved.meta_graphs:
        (folder / f"saved_model_{meta.meta_info_def.tags[0]}.txt").write_text(described(meta))


def write_metadata(folder):
    """The trace of one run."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        _, loss, train = training_graph()
        session.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        session.run([loss, train], {"x:0": [[1, 2]]}, options=options, run_metadata=metadata)
    (folder / "run_metadata.pb").write_bytes(metadata.SerializeToString())
    lines = []
    for stats in metadata.step_stats.dev_stats:
        for node in stats.node_stats:
            label = node.timeline_label
            op = label.partition(" = ")[2].partition("(")[0]
            lines.append(f"slice {stats.device} {node.node_name} {op} {node.all_start_micros} {node.all_end_rel_micros} "
                         f"{node.scheduled_micros} {node.thread_id}")
        lines += [f"thread {stats.device} {number} {name}" for number, name in sorted(stats.thread_names.items())]
    (folder / "run_metadata.txt").write_text("\n".join(sorted(lines)) + "\n")


def write_settings(folder):
    """What C++ is to write, byte for byte."""
    options = config_pb2.RunOptions(trace_level=3, timeout_in_ms=250, inter_op_thread_pool=-1,
                                    output_partition_graphs=True, report_tensor_allocations_upon_oom=True)
    (folder / "run_options.pb").write_bytes(options.SerializeToString())
    config = config_pb2.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=-1,
                                    use_per_session_threads=True, device_filters=["/job:ps", "/job:worker/task:1"],
                                    allow_soft_placement=True, log_device_placement=True, operation_timeout_in_ms=3000,
                                    isolate_session_state=True, share_cluster_devices_in_session=True)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    (folder / "config.pb").write_bytes(config.SerializeToString())
    cluster = cluster_pb2.ClusterDef()
    for name, addresses in (("ps", ["localhost:2222"]), ("worker", ["localhost:2223"])):
        job = cluster.job.add(name=name)
        for index, address in enumerate(addresses):
            job.tasks[index] = address  # one each: in which order several stand is not fixed
    server = tensorflow_server_pb2.ServerDef(cluster=cluster, job_name="worker", task_index=1, protocol="grpc")
    server.default_session_config.intra_op_parallelism_threads = 1
    (folder / "server.pb").write_bytes(server.SerializeToString(deterministic=True))


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for write in (write_scaffold, write_small, write_saved_model, write_metadata, write_settings):
        write(folder)


if __name__ == "__main__":
    main()
