"""The protocol buffers of TensorBoard's summaries (torch.utils.tensorboard.summary)."""

import json

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

from ._arrays import as_array, as_frames, as_image, as_scalar, gif, png, wav

__all__ = ["audio", "custom_scalars", "hparams", "histogram", "histogram_raw", "image", "image_boxes", "mesh",
           "pr_curve", "pr_curve_raw", "scalar", "tensor_proto", "text", "video"]

_KINDS = {"float16": ("DT_HALF", "half_val"), "float32": ("DT_FLOAT", "float_val"),
          "float64": ("DT_DOUBLE", "double_val"), "int8": ("DT_INT8", "int_val"), "uint8": ("DT_UINT8", "int_val"),
          "int16": ("DT_INT16", "int_val"), "int32": ("DT_INT32", "int_val"), "int64": ("DT_INT64", "int64_val"),
          "bool": ("DT_BOOL", "bool_val"), "complex64": ("DT_COMPLEX64", "scomplex_val"),
          "complex128": ("DT_COMPLEX128", "dcomplex_val")}


def _value(tag, plugin=None, content=b"", **fields):
    metadata = plugin and SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, **fields)])


def _shape(sizes):
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=n) for n in sizes])


def _texts(texts, sizes):
    return TensorProto(dtype="DT_STRING", string_val=[t.encode() for t in texts], tensor_shape=_shape(sizes))


def _numbers(array):
    name = str(array.dtype)
    if name not in _KINDS:
        raise ValueError(f"a tensor of {name} cannot be written")
    kind, field = _KINDS[name]
    flat = array.reshape(-1)
    if name == "float16":
        flat = flat.view(np.uint16)
    elif name.startswith("complex"):
        flat = flat.view(flat.real.dtype)
    return TensorProto(dtype=kind, tensor_shape=_shape(array.shape), **{field: flat.tolist()})


def scalar(name, tensor, collections=None, new_style=False, double_precision=False):
    """A number, in single precision unless *new_style* and *double_precision*."""
    number = float(as_scalar(tensor))
    if not new_style:
        return _value(name, simple_value=number)
    kind, field = _KINDS["float64" if double_precision else "float32"]
    return _value(name, "scalars", tensor=TensorProto(dtype=kind, **{field: [number]}))


def tensor_proto(tag, tensor):
    """A tensor of any size."""
    return _value(tag, "tensor", tensor=_numbers(as_array(tensor)))


def text(tag, text):
    """A text, shown as Markdown."""
    return _value(f"{tag}/text_summary", "text", tensor=_texts([text], [1]))


def histogram_raw(name, min, max, num, sum, sum_squares, bucket_limits, bucket_counts):
    """A histogram whose buckets have been counted."""
    return _value(name, histo=HistogramProto(min=min, max=max, num=num, sum=sum, sum_squares=sum_squares,
                                             bucket_limit=bucket_limits, bucket=bucket_counts))


def histogram(name, values, bins, max_bins=None):
    """A histogram of values in *bins* (what `numpy.histogram` takes), neighbours taken together past *max_bins*."""
    array = as_array(values)
    if array.size == 0:
        raise ValueError("The input has no element.")
    array = array.reshape(-1).astype(np.float64)
    counts, limits = np.histogram(array, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        counts = np.pad(counts, (0, -len(counts) % step)).reshape(-1, step).sum(1)
        limits = np.append(limits[:-1][::step], limits[-1])
    filled = np.flatnonzero(counts)
    if len(filled) == 0:
        raise ValueError("The histogram is empty, please file a bug report.")
    start, end = filled[0], filled[-1] + 1
    counts = np.append([0], counts[start:end])          # TensorBoard wants a bucket that ends where the first begins
    return histogram_raw(name, float(array.min()), float(array.max()), len(array), float(array.sum()),
                         float(array.dot(array)), limits[start:end + 1].tolist(), counts.tolist())


def image(tag, tensor, rescale=1, dataformats="NCHW"):
    """An image, or several in a grid."""
    return _image(tag, as_image(tensor, dataformats), rescale=rescale)


def image_boxes(tag, tensor_image, tensor_boxes, rescale=1, dataformats="CHW", labels=None):
    """An image with boxes (left, top, right, bottom) on it."""
    return _image(tag, as_image(tensor_image, dataformats), tensor_boxes, labels, rescale)


def _image(tag, array, boxes=None, labels=None, rescale=1):
    height, width, channels = array.shape
    return _value(tag, image=Summary.Image(height=height, width=width, colorspace=channels,
                                           encoded_image_string=png(array, boxes, labels, rescale)))


def video(tag, tensor, fps=4):
    """Videos (n, time, channels, height, width), side by side."""
    frames = as_frames(tensor)
    _, height, width, channels = frames.shape
    return _value(tag, image=Summary.Image(height=height, width=width, colorspace=channels,
                                           encoded_image_string=gif(frames, fps)))


def audio(tag, tensor, sample_rate=44100):
    """A sound in one channel."""
    encoded, frames = wav(tensor, sample_rate)
    return _value(tag, audio=Summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=frames,
                                           encoded_audio_string=encoded, content_type="audio/wav"))


def pr_curve_raw(tag, tp, fp, tn, fn, precision, recall, num_thresholds=127, weights=None):
    """A curve of precision and recall, counted at the thresholds."""
    data = np.stack([np.asarray(as_array(np.asarray(row)), np.float64) for row in (tp, fp, tn, fn, precision, recall)])
    content = PrCurvePluginData(version=0, num_thresholds=min(num_thresholds, 127)).SerializeToString()
    return _value(tag, "pr_curves", content, tensor=TensorProto(
        dtype="DT_FLOAT", float_val=data.reshape(-1).tolist(), tensor_shape=_shape(data.shape)))


def pr_curve(tag, labels, predictions, num_thresholds=127, weights=None):
    """A curve of precision and recall of predictions between 0 and 1, at evenly spaced thresholds."""
    num_thresholds = min(num_thresholds, 127)
    labels = as_array(labels).astype(np.float64)
    weights = np.ones_like(labels) if weights is None else as_array(weights)
    bucket = np.floor(as_array(predictions) * (num_thresholds - 1)).astype(np.int32)

    def above(share):
        counts = np.histogram(bucket, num_thresholds, (0, num_thresholds - 1), weights=share * weights)[0]
        return np.cumsum(counts[::-1])[::-1]
    tp, fp = above(labels), above(1.0 - labels)
    tn, fn = fp[0] - fp, tp[0] - tp
    least = 1e-7
    return pr_curve_raw(tag, tp, fp, tn, fn, tp / np.maximum(least, tp + fp), tp / np.maximum(least, tp + fn),
                        num_thresholds)


def custom_scalars(layout):
    """Which scalars are drawn together: {category: {title: (kind, tags)}}, kind "Multiline" or "Margin"."""
    categories = []
    for category, charts in layout.items():
        drawn = []
        for title, (kind, tags) in charts.items():
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("a margin chart has three tags: of the value, its lower and its upper bound")
                series = layout_pb2.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                drawn.append(layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series])))
            else:
                drawn.append(layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags)))
        categories.append(layout_pb2.Category(title=category, chart=drawn))
    encoded = layout_pb2.Layout(category=categories).SerializeToString()
    return _value("custom_scalars__config__", "custom_scalars", tensor=TensorProto(
        dtype="DT_STRING", string_val=[encoded], tensor_shape=TensorShapeProto()))


def mesh(tag, vertices, colors, faces, config_dict, display_name=None, description=None):
    """A cloud of points or a mesh: vertices (n, points, 3), and colors and faces of them."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    parts = [(as_array(value).astype(np.float32), kind) for value, kind in (
        (vertices, MeshPluginData.VERTEX), (faces, MeshPluginData.FACE), (colors, MeshPluginData.COLOR))
        if value is not None]
    components = metadata.get_components_bitmask([kind for _, kind in parts])
    values = []
    for array, kind in parts:
        values.append(Summary.Value(
            tag=metadata.get_instance_name(tag, kind), tensor=_numbers(array),
            metadata=metadata.create_summary_metadata(tag, display_name, kind, components, array.shape, description,
                                                      json.dumps(config_dict or {}, sort_keys=True))))
    return Summary(value=values)


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None):
    """(experiment, start, end): three summaries that describe a run by its hyperparameters and measures."""
    from tensorboard.plugins.hparams import metadata
    from tensorboard.plugins.hparams.api_pb2 import DataType, Experiment, HParamInfo, MetricInfo, MetricName, Status
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

    if not (isinstance(hparam_dict, dict) and isinstance(metric_dict, dict)):
        raise TypeError("hparam_dict and metric_dict should be dictionary.")
    domains = hparam_domain_discrete or {}
    if not isinstance(domains, dict):
        raise TypeError("hparam_domain_discrete should be a dictionary.")
    for name, domain in domains.items():
        if name not in hparam_dict or not isinstance(domain, list) or not all(
                isinstance(d, type(hparam_dict[name])) for d in domain):
            raise TypeError(f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                            f"hparam_dict[{name}].")
    start, infos = SessionStartInfo(), []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        if isinstance(value, str):
            kind, field = "DATA_TYPE_STRING", "string_value"
        else:
            if not isinstance(value, (int, float)):
                try:
                    value = float(as_scalar(value))
                except NotImplementedError:
                    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor") from None
            kind, field = "DATA_TYPE_FLOAT64", "number_value"
        setattr(start.hparams[name], field, value)
        info = HParamInfo(name=name, type=DataType.Value(kind))
        if name in domains:
            info.domain_discrete.extend(domains[name])
        infos.append(info)
    measures = [MetricInfo(name=MetricName(tag=name)) for name in metric_dict]
    contents = {
        metadata.EXPERIMENT_TAG: HParamsPluginData(experiment=Experiment(hparam_infos=infos, metric_infos=measures)),
        metadata.SESSION_START_INFO_TAG: HParamsPluginData(session_start_info=start),
        metadata.SESSION_END_INFO_TAG: HParamsPluginData(
            session_end_info=SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))),
    }
    return tuple(_value(tag, metadata.PLUGIN_NAME, content.SerializeToString()) for tag, content in contents.items())
