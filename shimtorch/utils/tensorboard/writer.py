"""FileWriter and SummaryWriter (torch.utils.tensorboard.writer)."""

import os
import time

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import summary
from ._arrays import as_array, figure, sprite

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Events in a file of a folder, written by a thread of the package tensorboard."""

    def __init__(self, log_dir, max_queue=10, flush_secs=120, filename_suffix=""):
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self):
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None):
        """Write an event, at a time (now) and a step."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary, global_step=None, walltime=None):
        """Write a summary."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(self, graph_profile, walltime=None):
        """Not implemented: there are no graphs of programs."""
        raise NotImplementedError("FileWriter.add_graph is not implemented: there are no graphs of programs")

    def add_onnx_graph(self, graph, walltime=None):
        """Not implemented: there are no graphs of programs."""
        raise NotImplementedError("FileWriter.add_onnx_graph is not implemented: there are no graphs of programs")

    def flush(self):
        """Wait until everything is in the file."""
        self.event_writer.flush()

    def close(self):
        """Write everything and close the file."""
        self.event_writer.close()

    def reopen(self):
        """Go on in a new file."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes what TensorBoard shows to *log_dir*, by default a folder in ``runs`` with the time and the host's name.

    *purge_step* is the step from which on TensorBoard forgets what an earlier run wrote there. Also a context manager.
    The methods take a tag, what to write, the step and the time.
    """

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        if not log_dir:
            import socket
            from datetime import datetime

            moment = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{moment}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue, self.flush_secs, self.filename_suffix = max_queue, flush_secs, filename_suffix
        self.file_writer = self.all_writers = None
        self._get_file_writer()
        # The edges of the default histogram: each 1.1 times as far from 0 as the one before.
        edges = [1e-12]
        while edges[-1] < 1e20:
            edges.append(edges[-1] * 1.1)
        edges = edges[:-1]
        self.default_bins = [-e for e in reversed(edges)] + [0] + edges

    def _get_file_writer(self):
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._writer_in(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                self.file_writer.add_event(Event(step=self.purge_step,
                                                 session_log=SessionLog(status=SessionLog.START)))
                self.purge_step = None
        return self.file_writer

    def _writer_in(self, folder):
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _add(self, value, global_step, walltime):
        self._get_file_writer().add_summary(value, global_step, walltime)

    def get_logdir(self):
        """The folder."""
        return self.log_dir

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False):
        """A number, or a tensor of one element."""
        self._add(summary.scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision),
                  global_step, walltime)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        """Several numbers, drawn together: {name: number}."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            place = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if place not in self.all_writers:
                self.all_writers[place] = self._writer_in(place)
            self.all_writers[place].add_summary(summary.scalar(main_tag, value), global_step, walltime)

    def add_tensor(self, tag, tensor, global_step=None, walltime=None):
        """A tensor of any size."""
        self._add(summary.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(self, tag, values, global_step=None, bins="tensorflow", walltime=None, max_bins=None):
        """A histogram of the elements of a tensor or array."""
        bins = self.default_bins if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(summary.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(self, tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts, global_step=None,
                          walltime=None):
        """A histogram whose buckets have been counted."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(summary.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts),
                  global_step, walltime)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        """An image: bytes, or numbers between 0 and 1."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        """Several images, in a grid."""
        self._add(summary.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(self, tag, img_tensor, box_tensor, global_step=None, walltime=None, rescale=1,
                             dataformats="CHW", labels=None):
        """An image with boxes (left, top, right, bottom) and their labels."""
        labels = [labels] if isinstance(labels, str) else labels
        if labels is not None and len(labels) != len(box_tensor):
            labels = None
        self._add(summary.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels), global_step, walltime)

    def add_figure(self, tag, figure_, global_step=None, close=True, walltime=None):
        """A matplotlib figure, or a list of them, which are closed."""
        picture = figure(figure_)
        if close:
            from matplotlib import pyplot

            for one in figure_ if isinstance(figure_, list) else [figure_]:
                pyplot.close(one)
        self.add_image(tag, picture, global_step, walltime, "NCHW" if isinstance(figure_, list) else "CHW")

    def add_video(self, tag, vid_tensor, global_step=None, fps=4, walltime=None):
        """Videos (n, time, channels, height, width)."""
        self._add(summary.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None):
        """A sound: numbers between -1 and 1."""
        self._add(summary.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag, text_string, global_step=None, walltime=None):
        """A text, shown as Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        """Not implemented: there are no graphs of programs."""
        raise NotImplementedError("SummaryWriter.add_graph is not implemented: there are no graphs of programs")

    def add_onnx_graph(self, prototxt):
        """Not implemented: there are no graphs of programs."""
        raise NotImplementedError("SummaryWriter.add_onnx_graph is not implemented: there are no graphs of programs")

    def add_pr_curve(self, tag, labels, predictions, global_step=None, num_thresholds=127, weights=None,
                     walltime=None):
        """A curve of precision and recall of predictions between 0 and 1 for labels 0 and 1."""
        self._add(summary.pr_curve(tag, labels, predictions, num_thresholds, weights), global_step, walltime)

    def add_pr_curve_raw(self, tag, true_positive_counts, false_positive_counts, true_negative_counts,
                         false_negative_counts, precision, recall, global_step=None, num_thresholds=127, weights=None,
                         walltime=None):
        """A curve of precision and recall that has been counted."""
        self._add(summary.pr_curve_raw(tag, true_positive_counts, false_positive_counts, true_negative_counts,
                                       false_negative_counts, precision, recall, num_thresholds, weights),
                  global_step, walltime)

    def add_custom_scalars(self, layout):
        """Which scalars are drawn together: {category: {title: (kind, tags)}}, kind "Multiline" or "Margin"."""
        self._add(summary.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(self, tags, category="default", title="untitled"):
        """Scalars drawn in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(self, tags, category="default", title="untitled"):
        """A scalar drawn between two others."""
        if len(tags) != 3:
            raise AssertionError("a margin chart has three tags: of the value, its lower and its upper bound")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(self, tag, vertices, colors=None, faces=None, config_dict=None, global_step=None, walltime=None):
        """A cloud of points or a mesh."""
        self._add(summary.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(self, hparam_dict, metric_dict, hparam_domain_discrete=None, run_name=None, global_step=None):
        """The hyperparameters and measures of a run, in a folder of its own."""
        summaries = summary.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for one in summaries:
                writer.file_writer.add_summary(one, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_embedding(self, mat, metadata=None, label_img=None, global_step=None, tag="default",
                      metadata_header=None):
        """Points (n, dimensions) for the projector, with a label and an image (n, channels, height, width) each."""
        points = as_array(mat)
        if points.ndim != 2:
            raise AssertionError("mat should be 2D, where mat.size(0) is the number of data points")
        step = 0 if global_step is None else global_step
        name = "".join(c if c.isalnum() or c in "-_." else f"%{ord(c):02x}" for c in tag)
        place = f"{step:0>5}/{name}"
        folder = os.path.join(self._get_file_writer().get_logdir(), place)
        os.makedirs(folder, exist_ok=True)
        entry = [f'tensor_name: "{tag}:{step:0>5}"']
        if metadata is not None:
            if len(metadata) != len(points):
                raise AssertionError("#labels should equal with #data points")
            rows = [metadata_header, *metadata] if metadata_header else metadata
            _write_lines(folder, "metadata.tsv", (_row(r) if metadata_header else str(r) for r in rows))
            entry.append(f'metadata_path: "{place}/metadata.tsv"')
        if label_img is not None:
            if len(label_img) != len(points):
                raise AssertionError("#images should equal with #data points")
            with open(os.path.join(folder, "sprite.png"), "wb") as file:
                file.write(sprite(label_img))
            height, width = label_img.shape[2:]
            entry.append(f'sprite {{\n    image_path: "{place}/sprite.png"\n    single_image_dim: {width}\n'
                         f"    single_image_dim: {height}\n  }}")
        _write_lines(folder, "tensors.tsv", (_row(float(v) for v in row) for row in points))
        entry.append(f'tensor_path: "{place}/tensors.tsv"')
        with open(os.path.join(self._get_file_writer().get_logdir(), "projector_config.pbtxt"), "a") as file:
            file.write("embeddings {\n" + "".join(f"  {line}\n" for line in entry) + "}\n")

    def flush(self):
        """Wait until everything is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self):
        """Write everything and close the files; what is added later goes to new ones."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _row(values):
    return "\t".join(str(v) for v in values)


def _write_lines(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
