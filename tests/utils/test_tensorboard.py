"""torch.utils.tensorboard: the events in the files, as the package tensorboard reads them."""

import subprocess
import sys

import numpy as np
import pytest

import shimtorch as torch


def test_without_the_package_the_import_says_what_is_missing(tmp_path):
    code = ("import sys; sys.modules['tensorboard'] = None\n"
            "import shimtorch\n"
            "try: import shimtorch.utils.tensorboard\n"
            "except ModuleNotFoundError as error: print(error)\n")
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "which is not installed: pip install tensorboard" in run.stdout


@pytest.fixture
def board(tmp_path):
    pytest.importorskip("tensorboard", reason="needs the package tensorboard")
    from shimtorch.utils.tensorboard import SummaryWriter

    return SummaryWriter(tmp_path)


def events(folder):
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    found = [Event.FromString(e) for f in sorted(folder.glob("*tfevents*")) for e in RawEventFileLoader(str(f)).Load()]
    return [e for e in found if e.HasField("summary")]


def values(folder):
    return [v for e in events(folder) for v in e.summary.value]


def test_scalars(board, tmp_path):
    with board:
        board.add_scalar("loss", torch.tensor(1.5), 3, walltime=7.0)
        board.add_scalar("loss", torch.tensor([1 / 3], dtype=torch.float64), new_style=True, double_precision=True)
        board.add_scalars("run", {"a": 1.0, "b": np.float32(2)}, 4)
        with pytest.raises(AssertionError, match="Tensor should contain one element"):
            board.add_scalar("loss", torch.ones(2))
        with pytest.raises(NotImplementedError, match="numpy array or torch tensor are expected"):
            board.add_scalar("loss", None)
    first, second = events(tmp_path)
    assert (first.step, first.wall_time, first.summary.value[0].tag) == (3, 7, "loss")
    assert first.summary.value[0].simple_value == 1.5
    assert second.summary.value[0].tensor.double_val == [1 / 3]
    assert [values(tmp_path / f"run_{n}")[0].simple_value for n in "ab"] == [1, 2]


def test_histograms(board, tmp_path):
    x = torch.linspace(-2, 3, 60) ** 3
    with board:
        board.add_histogram("h", x)
        board.add_histogram("h", x, bins=5)
        board.add_histogram("h", x, bins=10, max_bins=4)
        board.add_histogram("h", torch.zeros(3))
        for wrong, message in ((torch.zeros(0), "The input has no element"),
                               (torch.tensor([float("nan")]), "The histogram is empty")):
            with pytest.raises(ValueError, match=message):
                board.add_histogram("h", wrong)
        with pytest.raises(ValueError, match="len.bucket_limits. != len.bucket_counts."):
            board.add_histogram_raw("h", 0, 1, 2, 3.0, 4.0, [1.0], [1, 2])
    default, five, four, zero = (v.histo for v in values(tmp_path))
    assert (default.min, default.max, default.num) == (-8, 27, 60) and sum(default.bucket) == 60
    assert default.bucket[0] == 0 and default.bucket[1] > 0 and default.bucket[-1] > 0
    assert list(five.bucket_limit) == pytest.approx([-8, -1, 6, 13, 20, 27]) and list(five.bucket)[0] == 0
    assert len(four.bucket) == 6 and sum(four.bucket) == 60
    assert list(zero.bucket_limit) == [0, 1e-12] and list(zero.bucket) == [0, 3]


def test_images_and_sounds(board, tmp_path):
    pytest.importorskip("PIL", reason="images are encoded by Pillow")
    image = torch.linspace(0, 1, 3 * 8 * 6).reshape(3, 8, 6)
    with board:
        board.add_image("i", image)
        board.add_image("i", (image * 255).byte().permute(1, 2, 0), dataformats="HWC")
        board.add_image("i", image[0], dataformats="HW")
        board.add_images("i", torch.stack([image] * 5))
        board.add_image_with_boxes("i", torch.zeros(3, 40, 40), torch.tensor([[1, 2, 10, 12]]))
        board.add_video("v", torch.rand(2, 3, 3, 8, 8))
        board.add_audio("a", torch.linspace(-1, 1.5, 50), sample_rate=8000)
        with pytest.raises(AssertionError, match="size of input tensor and input format are different"):
            board.add_image("i", image[0])
    found = values(tmp_path)
    sizes = [(v.image.height, v.image.width, v.image.colorspace) for v in found[:6]]
    assert sizes == [(8, 6, 3), (8, 6, 3), (8, 6, 3), (8, 30, 3), (40, 40, 3), (8, 16, 3)]
    assert pixels(found[0]).tolist() == pixels(found[1]).tolist()
    assert pixels(found[3])[:, 6:12].tolist() == pixels(found[0]).tolist()
    assert pixels(found[4])[2, 1].tolist() == [255, 0, 0]
    assert (found[6].audio.sample_rate, found[6].audio.length_frames) == (8000, 50)
    assert np.frombuffer(found[6].audio.encoded_audio_string[44:], "<i2")[[0, -1]].tolist() == [-32767, 32767]


def pixels(value):
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(value.image.encoded_image_string)))


def test_texts_curves_and_meshes(board, tmp_path):
    from tensorboard.plugins.custom_scalar.layout_pb2 import Layout

    labels, predictions = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([0.1, 0.9, 0.4, 0.3, 0.8])
    with board:
        board.add_text("t", "hello *x*", 1)
        board.add_pr_curve("pr", labels, predictions, num_thresholds=5)
        board.add_mesh("m", torch.rand(1, 4, 3), faces=torch.zeros(1, 2, 3, dtype=torch.int32))
        board.add_custom_scalars({"c": {"x": ["Multiline", ["a", "b"]], "y": ["Margin", ["d", "e", "f"]]}})
        board.add_tensor("n", torch.arange(6).view(2, 3))
    text, curve, points, faces, layout, numbers = values(tmp_path)
    assert (text.tag, list(text.tensor.string_val)) == ("t/text_summary", [b"hello *x*"])
    counted = np.array(curve.tensor.float_val).reshape(6, 5)
    assert counted[:4, 2].tolist() == [2, 0, 2, 1] and counted[4:, 2].tolist() == pytest.approx([1, 2 / 3])
    assert (points.tag, faces.tag) == ("m_VERTEX", "m_FACE") and len(points.tensor.float_val) == 12
    chart, margin = Layout.FromString(layout.tensor.string_val[0]).category[0].chart
    assert list(chart.multiline.tag) == ["a", "b"] and margin.margin.series[0].lower == "e"
    assert list(numbers.tensor.int64_val) == [0, 1, 2, 3, 4, 5]


def test_hyperparameters(board, tmp_path):
    with board:
        board.add_hparams({"lr": 0.1, "n": "x", "none": None}, {"acc": torch.tensor(0.5)}, {"lr": [0.1, 0.2]}, "r")
        for wrong in (({"lr": [1]}, {"a": 1}), (3, {"a": 1}), ({"a": 1}, {"a": 1}, {"b": [1]})):
            with pytest.raises((TypeError, ValueError), match="should be"):
                board.add_hparams(*wrong)
    found = values(tmp_path / "r")
    assert [v.tag for v in found] == ["_hparams_/experiment", "_hparams_/session_start_info",
                                      "_hparams_/session_end_info", "acc"]
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    start = HParamsPluginData.FromString(found[1].metadata.plugin_data.content).session_start_info
    assert (start.hparams["lr"].number_value, start.hparams["n"].string_value, len(start.hparams)) == (0.1, "x", 2)


def test_embeddings(board, tmp_path):
    with board:
        board.add_embedding(torch.arange(6.0).view(3, 2), [["a", 1], ["b", 2], ["c", 3]], global_step=3,
                            metadata_header=["name", "n"])
        with pytest.raises(AssertionError, match="#labels should equal with #data points"):
            board.add_embedding(torch.zeros(3, 2), ["a"])
        with pytest.raises(AssertionError, match="mat should be 2D"):
            board.add_embedding(torch.zeros(3))
    folder = tmp_path / "00003" / "default"
    assert (folder / "tensors.tsv").read_text() == "0.0\t1.0\n2.0\t3.0\n4.0\t5.0\n"
    assert (folder / "metadata.tsv").read_text() == "name\tn\na\t1\nb\t2\nc\t3\n"
    assert 'tensor_path: "00003/default/tensors.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()


def test_graphs_are_refused(board):
    with board, pytest.raises(NotImplementedError, match="add_graph"):
        board.add_graph(torch.nn.Linear(2, 2), torch.ones(1, 2))


def test_what_is_added_after_closing_goes_to_a_new_file(board, tmp_path):
    board.add_scalar("a", 1.0)
    board.close()
    board.filename_suffix = ".again"
    board.add_scalar("a", 2.0)
    board.close()
    assert [v.simple_value for v in values(tmp_path)] == [1, 2]
