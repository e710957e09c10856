"""torch.save and torch.load: formats, sharing, places, safety, errors; files of real PyTorch (tests/answers/files)."""

import io
import json
import os
import pathlib
import pickle
import stat
import struct
import warnings
import zipfile
from collections import Counter, OrderedDict, defaultdict

import pytest

import shimtorch as torch
from shimtorch import serialization
from shimtorch._files.zipwriter import ZipWriter

FILES = pathlib.Path(__file__).parent / "answers" / "files"
FORMATS = pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])


def saved(obj, zipped=True, **options):
    file = io.BytesIO()
    torch.save(obj, file, _use_new_zipfile_serialization=zipped, **options)
    file.seek(0)
    return file


def again(obj, zipped=True, **options):
    return torch.load(saved(obj, zipped), **options)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


@FORMATS
def test_nested_objects(zipped):
    x = torch.arange(6.0).view(2, 3)
    obj = {"t": x, "l": [1, 2.5, None, True, "text", b"bytes", 1 << 70, -1, (1, (2, 3))], "o": OrderedDict(a=1),
           "c": Counter("aab"), "s": {1, 2}, "z": 1 + 2j, "e": (), "size": x.size(), "d": x.device, "dt": x.dtype,
           "p": torch.nn.Parameter(x.clone()), "b": bytearray(b"ab")}
    got = again(obj, zipped)
    assert got["t"].tolist() == x.tolist() and got["l"] == obj["l"] and got["o"] == obj["o"] and got["c"] == obj["c"]
    assert got["s"] == obj["s"] and got["z"] == obj["z"] and got["size"] == x.size() and got["d"] == x.device
    assert got["dt"] is x.dtype and type(got["p"]) is torch.nn.Parameter and got["b"] == obj["b"] and got["e"] == ()


@FORMATS
@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
                                  "float64", "complex64", "complex128", "uint16", "uint32", "uint64"])
def test_every_dtype(name, zipped):
    x = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(getattr(torch, name)).t()
    y = again(x, zipped)
    assert y.dtype is x.dtype and y.stride() == x.stride() and y.tolist() == x.tolist()


@FORMATS
def test_shared_memory_is_shared_again(zipped):
    x = torch.arange(10.0)
    a, b, c, d = again([x, x[2:5], x.data, x.view(2, 5).t()], zipped)
    a.fill_(3)
    assert b.tolist() == [3] * 3 and c[0] == 3 and d[0, 0] == 3
    one, two = again([torch.ones(2), torch.ones(2)], zipped)
    one.zero_()
    assert two.tolist() == [1, 1]


@FORMATS
def test_state_dicts_and_modules(zipped):
    net = Net()
    state = again(net.state_dict(), zipped)
    assert list(state) == list(net.state_dict()) and state._metadata == net.state_dict()._metadata
    other = Net()
    other.load_state_dict(state)
    x = torch.ones(1, 3)
    assert other(x).tolist() == net(x).tolist()
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed.*Unsupported global.*Net"):
        again(net, zipped)
    assert again(net, zipped, weights_only=False)(x).tolist() == net(x).tolist()


@FORMATS
def test_optimizers(zipped):
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    fresh = torch.optim.Adam(net.parameters())
    fresh.load_state_dict(again(optimizer.state_dict(), zipped))
    assert fresh.state_dict()["state"][0]["exp_avg"].tolist() == optimizer.state_dict()["state"][0]["exp_avg"].tolist()


@FORMATS
def test_sparse_tensors(zipped):
    x = torch.sparse_coo_tensor([[0, 2, 0]], [1.0, 2.0, 3.0], (4,))
    for each in (x, x.coalesce()):
        y = again(each, zipped)
        assert y.is_coalesced() == each.is_coalesced() and y.to_dense().tolist() == each.to_dense().tolist()
    assert again(torch.eye(3).to_sparse_csr(), zipped).to_dense().tolist() == torch.eye(3).tolist()


def test_eras_decide_whether_loading_is_safe():
    file = saved(Net())
    with torch.era("1.1"):
        assert type(torch.load(file)) is Net
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file)


def test_environment_decides(monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    assert type(again(Net())) is Net
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "yes")
    with pytest.raises(RuntimeError, match="Only one of"):
        again(1)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        again(Net(), weights_only=False)


# ---------------------------------------------------------------- the bytes that are written

def test_zip_layout(tmp_path):
    path = tmp_path / "model.pt"
    torch.save([torch.arange(3.0), torch.arange(5)], path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert names == ["model/data.pkl", "model/.format_version", "model/.storage_alignment", "model/byteorder",
                         "model/data/0", "model/data/1", "model/version", "model/.data/serialization_id"]
        assert archive.testzip() is None and archive.read("model/version") == b"3\n"
        data = path.read_bytes()
        for info in archive.infolist():
            length, extra = struct.unpack_from("<2H", data, info.header_offset + 26)
            assert (info.header_offset + 30 + length + extra) % 64 == 0
            assert info.compress_type == 0 and info.flag_bits == 0x0808
        assert archive.read("model/data/0") == struct.pack("<3f", 0, 1, 2)


@FORMATS
def test_names_are_those_of_torch(zipped):
    file = saved([torch.nn.Parameter(torch.ones(1)), torch.Size([1]), torch.float32, torch.eye(2).to_sparse(), Net().fc,
                  torch.Generator()], zipped)
    data = file.getvalue()
    assert b"shimtorch" not in data
    for name in (b"ctorch._utils\n_rebuild_parameter\n", b"ctorch\nSize\n", b"ctorch\nfloat32\n",
                 b"ctorch\nFloatStorage\n", b"ctorch.serialization\n_get_layout\n",
                 b"ctorch.nn.modules.linear\nLinear\n", b"ctorch._C\nGenerator\n"):
        assert name in data


def test_other_protocols_and_pickle_modules():
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        file = saved({"x": torch.arange(3.0)}, pickle_protocol=protocol)
        assert torch.load(file, weights_only=True)["x"].tolist() == [0, 1, 2]
        file.seek(0)
        assert torch.load(file, pickle_module=pickle)["x"].tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        again(1, pickle_module=pickle, weights_only=True)


def test_one_file_may_hold_several_streams():
    file = io.BytesIO(b"skipped")
    file.seek(7)
    for i in range(3):
        torch.save(torch.full((2,), float(i)), file, _use_new_zipfile_serialization=False)
    file.write(b"trailing")
    file.seek(7)
    assert [torch.load(file)[0].item() for _ in range(3)] == [0, 1, 2]
    assert file.read() == b"trailing"


def test_a_zip_may_begin_anywhere():
    file = io.BytesIO(b"before" + saved(torch.ones(2)).getvalue())
    file.seek(6)
    assert torch.load(file).tolist() == [1, 1]


class OnlyWrite:
    def __init__(self):
        self.data = b""

    def write(self, data):
        self.data += bytes(data)


@FORMATS
def test_objects_with_little_of_a_file(zipped):
    sink = OnlyWrite()
    torch.save({"x": torch.arange(3.0)}, sink, _use_new_zipfile_serialization=zipped)

    class Source:
        def __init__(self, data):
            file = io.BytesIO(data)
            self.read, self.readline, self.seek, self.tell = file.read, file.readline, file.seek, file.tell

    source = Source(sink.data) if not zipped else io.BytesIO(sink.data)
    assert torch.load(source)["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("order, sign", [(b"big", ">"), (b"little", "<")])
def test_byte_order(order, sign):
    file = io.BytesIO()
    writer = ZipWriter(file)
    body = b"ctorch._utils\n_rebuild_tensor\n(" + STORAGE + b"K\x00K\x04\x85K\x01\x85tR"
    writer.record("archive/data.pkl", b"\x80\x02" + body + b".")
    writer.record("archive/byteorder", order)
    writer.record("archive/data/0", struct.pack(sign + "4f", 1, 2, 3, 4))
    writer.close()
    file.seek(0)
    assert torch.load(file).tolist() == [1, 2, 3, 4]


def test_memory_mapped(tmp_path):
    path = tmp_path / "x.pt"
    torch.save({"x": torch.arange(1000.0), "y": torch.ones(3)}, path)
    got = torch.load(path, mmap=True)
    got["x"].add_(1)
    assert got["x"][5].item() == 6 and torch.load(path)["x"][5].item() == 5
    torch.save(1, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(path, mmap=True)
    with pytest.raises(ValueError, match="f must be a file path"):
        torch.load(io.BytesIO(b""), mmap=True)


def test_settings(tmp_path):
    from shimtorch.utils.serialization import config

    path = tmp_path / "x.pt"
    config.save.storage_alignment, config.load.mmap = 4096, True
    try:
        torch.save(torch.arange(3.0), path)
        assert torch.load(path).tolist() == again(torch.arange(3.0)).tolist() == [0, 1, 2]
        assert path.read_bytes().index(struct.pack("<3f", 0, 1, 2)) % 4096 == 0
    finally:
        config.save.storage_alignment, config.load.mmap = 64, False


def test_files_of_lua_torch_are_refused():
    from shimtorch.utils.serialization import T7Reader, load_lua

    with pytest.raises(NotImplementedError, match="model.t7.*files of Lua Torch are not read"):
        load_lua("model.t7")
    with pytest.raises(NotImplementedError, match="Lua Torch"):
        T7Reader(io.BytesIO())


def test_storages_of_files_and_buffers(tmp_path):
    path = tmp_path / "floats"
    path.write_bytes(struct.pack("<3f", 1, 2, 3))
    s = torch.FloatStorage.from_file(str(path), shared=True, size=4)
    s[3] = 9
    assert s.tolist() == [1, 2, 3, 9] and struct.unpack("<4f", path.read_bytes()) == (1, 2, 3, 9)
    private = torch.FloatStorage.from_file(str(path), shared=False, size=2)
    private[0] = 5
    assert struct.unpack("<f", path.read_bytes()[:4]) == (1,)
    assert torch.IntStorage.from_buffer(struct.pack(">3i", 1, 2, 3), "big").tolist() == [1, 2, 3]
    assert torch.ByteStorage.from_buffer(b"abcd", offset=1, count=2).tolist() == [98, 99]
    with pytest.raises(ValueError, match="invalid byte_order"):
        torch.IntStorage.from_buffer(b"abcd")
    part = s[1:3]
    part.fill_(0)
    assert s.tolist() == [1, 0, 0, 9] and part.new(2).size() == 2 and s.complex_float().tolist() == [1, 0, 0, 9]


# ---------------------------------------------------------------- saving is atomic

class Unpicklable:
    def __reduce__(self):
        raise ValueError("not today")


@FORMATS
def test_a_failed_save_leaves_the_old_file(tmp_path, zipped):
    path = tmp_path / "x.pt"
    torch.save(torch.ones(2), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="not today"):
        torch.save([torch.zeros(2), Unpicklable()], path, _use_new_zipfile_serialization=zipped)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.pt"]


def test_links_and_permissions_stay(tmp_path):
    path, link = tmp_path / "x.pt", tmp_path / "latest.pt"
    torch.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    torch.save(2, link)
    assert link.is_symlink() and torch.load(path) == 2 and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_no_file_is_written_to_directly(tmp_path):
    torch.save(torch.ones(2), "/dev/null")
    assert not pathlib.Path("/dev/null").is_file()
    with pytest.raises(IsADirectoryError):
        torch.save(1, tmp_path)


# ---------------------------------------------------------------- where tensors go

@FORMATS
def test_map_location(zipped):
    obj = {"x": torch.ones(2)}
    for place in ("cpu", b"cpu", torch.device("cpu"), {"cpu": "cpu"}, {}):
        assert again(obj, zipped, map_location=place)["x"].tolist() == [1, 1]
    asked = []

    def place(storage, location):
        asked.append((len(storage), location))
        return None if len(asked) > 1 else storage

    again([obj["x"], obj["x"][:1], torch.zeros(3)], zipped, map_location=place)
    assert asked == [(8, "cpu"), (12, "cpu")]
    with pytest.raises(RuntimeError, match="must return a storage"):
        again(obj, zipped, map_location=lambda storage, location: 3)


def with_location(tag, zipped):
    data = saved(torch.ones(2), zipped).getvalue()
    if zipped:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            records = {name: archive.read(name) for name in archive.namelist()}
        file = io.BytesIO()
        writer = ZipWriter(file)
        for name, content in records.items():
            writer.record(name, content.replace(b"X\x03\x00\x00\x00cpu", b"X" + struct.pack("<I", len(tag)) + tag))
        writer.close()
        data = file.getvalue()
    else:
        data = data.replace(b"X\x03\x00\x00\x00cpu", b"X" + struct.pack("<I", len(tag)) + tag)
    return io.BytesIO(data)


@FORMATS
def test_unknown_places(zipped):
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device but torch.cuda"):
        torch.load(with_location(b"cuda:0", zipped))
    assert torch.load(with_location(b"cuda:0", zipped), map_location="cpu").tolist() == [1, 1]
    assert torch.load(with_location(b"cuda:0", zipped), map_location={"cuda:0": "cpu"}).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of .*\(tagged with bogus\)"):
        torch.load(with_location(b"bogus", zipped))


# ---------------------------------------------------------------- what is refused

def opcodes(body, storages=(("0", b"\0" * 16),)):
    """A zip whose pickle is ``body``."""
    file = io.BytesIO()
    writer = ZipWriter(file)
    writer.record("archive/data.pkl", b"\x80\x02" + body + b".")
    for key, data in storages:
        writer.record(f"archive/data/{key}", data)
    writer.close()
    file.seek(0)
    return file


STORAGE = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQ"


@pytest.mark.parametrize("body, message", [
    (b"cos\ngetcwd\n)R", "Trying to load unsupported GLOBAL os.getcwd whose module os is blocked"),
    (b"cbuiltins\neval\nX\x03\x00\x00\x001+1\x85R", "Unsupported global: GLOBAL eval was not an allowed global"),
    (b"ctorch\nserialization.os.getcwd\n)R", "Unsupported global: GLOBAL torch.serialization.os.getcwd"),
    (b"ctorch\nload\n)R", "Unsupported global: GLOBAL torch.load"),
    (b"cbuiltins\nbytearray\nJ\x00\x00\x00\x7f\x85R", "a bytearray is made of bytes"),
    (b"ctorch\nFloatTensor\nJ\x00\x00\x00\x7f\x85R", "Trying to call reduce for unrecognized function"),
    (b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch\nFloatTensor\nctorch\nTensor\nJ\x00\x00\x00\x7f\x85}tR",
     "Trying to call reduce for unrecognized function"),
    (b"ctorch\nFloatStorage\nK\x04\x85R", "Trying to call reduce for unrecognized function"),
    (b"ctorch\nFloatStorage\nK\x04\x85\x81", "Trying to create new object for unrecognized class"),
    (b"K\x05)R", "Trying to call reduce for unrecognized function 5"),
    (b"ctorch._utils\n_rebuild_tensor_v2\n}b", "Can only build Tensor, Parameter, OrderedDict"),
    (b"K\x01K\x02a", "Can only append to lists"),
    (b"]K\x02K\x03s", "Can only SETITEMS for dict"),
    (b"}]K\x03s", "unhashable"),
    (b"h\x05", "KeyError"),
    (b"0", "Unsupported operand 48"),
    (b"R", "IndexError"),
    (b"e", "there is no mark"),
    (b"X\xff\xff\xff\xffab", "pickle data was truncated"),
    (b"K\x01Q", "saved_id must be a tuple"),
    (b"X\x01\x00\x00\x00aQ", "persistent_load id must be tuple or int"),
    (b"(X\x06\x00\x00\x00modulecbuiltins\nset\ntQ", "Only persistent_load of storage is allowed"),
    (b"K\x01" + b"\x85" * 5000, "tuples are nested more than 500 deep"),
])
def test_safe_loading_refuses(body, message):
    with pytest.raises((pickle.UnpicklingError, AssertionError), match=message):
        torch.load(opcodes(body), weights_only=True)


@pytest.mark.parametrize("numel", [b"K\x05", b"K\x03", b"J\xff\xff\xff\xff", b"N",
                                   b"\x8a\x08" + struct.pack("<q", 1 << 40)])
@pytest.mark.parametrize("safe", [True, False])
def test_sizes_are_checked_before_anything_is_allocated(numel, safe):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        torch.load(opcodes(STORAGE.replace(b"K\x04", numel)), weights_only=safe)


def test_a_lying_directory_allocates_nothing():
    data = bytearray(opcodes(STORAGE.replace(b"K\x04", b"\x8a\x05\x00\x00\x00\x00\x10")).getvalue())
    place = data.rindex(b"PK\x01\x02")
    struct.pack_into("<2I", data, place + 20, 0xFFFFFFF0, 0xFFFFFFF0)
    with pytest.raises(RuntimeError, match="shorter than the record"):
        torch.load(io.BytesIO(data))


def test_flipped_bytes_are_noticed():
    data = saved(torch.arange(100.0)).getvalue()
    place = data.index(struct.pack("<3f", 50, 51, 52))
    with pytest.raises(RuntimeError, match="CRC"):
        torch.load(io.BytesIO(data[:place] + b"\x01" + data[place + 1:]))


@FORMATS
def test_no_prefix_of_a_file_loads(zipped):
    data = saved({"a": torch.arange(4.0), "b": [1, "x"]}, zipped).getvalue()
    for n in range(0, len(data) - 1, 7):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            torch.load(io.BytesIO(data[:n]))


def test_safe_globals():
    file = saved({"d": defaultdict(list)})
    with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[defaultdict\]\)"):
        torch.load(file)
    file.seek(0)
    assert serialization.get_unsafe_globals_in_checkpoint(file) == ["collections.defaultdict", "builtins.list"]
    file.seek(0)
    with serialization.safe_globals([defaultdict, list]):
        assert torch.load(file) == {"d": defaultdict(list)}
        assert serialization.get_safe_globals() == [defaultdict, list]
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([os.getcwd])
    try:
        with pytest.raises(pickle.UnpicklingError, match="blocked"):
            torch.load(opcodes(b"cposix\ngetcwd\n)R"))
    finally:
        serialization.clear_safe_globals()


@pytest.mark.parametrize("call, error, message", [
    (lambda: torch.save(1, 3), AttributeError, "expected 'f' to be string, path, or a file-like object"),
    (lambda: torch.save(1, "/no/such/folder/x.pt"), RuntimeError, "Parent directory /no/such/folder does not exist."),
    (lambda: torch.load(3), AttributeError, "'int' object has no attribute 'seek'. You can only torch.load"),
    (lambda: torch.load("/no/such/file"), FileNotFoundError, "No such file"),
    (lambda: torch.load(io.BytesIO()), EOFError, "Ran out of input"),
    (lambda: torch.load(io.BytesIO(pickle.dumps({"a": 1}, 2))), RuntimeError, "Invalid magic number; corrupt file?"),
    (lambda: again([torch.zeros(2), torch.zeros(2).view(torch.int32)][:1] + [ALIASED[1]] + [ALIASED[0]]), RuntimeError,
     "Cannot save multiple tensors or storages that view the same data as different types"),
])
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


_base = torch.zeros(2)
ALIASED = _base, _base.view(torch.int32)


# ---------------------------------------------------------------- files of real PyTorch

EXPECTED = json.loads((FILES / "expected.json").read_text())


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_files_of_pytorch(name):
    expected = EXPECTED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = torch.load(FILES / name, weights_only=expected["safe"], encoding=expected.get("encoding", "utf-8"))
    for key, values in expected["tensors"].items():
        assert got[key].tolist() == values, key
    for first, second in expected["shared"]:
        assert got[first].untyped_storage().data_ptr() == got[second].untyped_storage().data_ptr()
    assert expected["tensors"]


@pytest.mark.parametrize("era, start", [("modern", b"PK"), ("1.11", b"PK"), ("1.1", b"\x80\x02"), ("0.3", b"\x80\x02")])
def test_eras_decide_on_the_format(era, start):
    file = io.BytesIO()
    with torch.era(era):
        torch.save(torch.ones(2), file)
    assert file.getvalue().startswith(start)
