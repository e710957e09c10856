"""Values as arrays, and arrays as pictures and sounds in the encodings that TensorBoard shows."""

import io
import math

import numpy as np

from ..._tensor import Tensor

COLUMNS = 8                         # of a grid of images


def as_array(value):
    """A number, array or tensor as an array of at least one dimension."""
    if isinstance(value, Tensor):
        value = value.detach().cpu()
        value = (value.float() if "bfloat16" in str(value.dtype) else value).numpy()
    elif not (isinstance(value, np.ndarray) or np.isscalar(value)):
        raise NotImplementedError(f"Got {type(value)}, but numpy array or torch tensor are expected.")
    return np.atleast_1d(np.asarray(value))


def as_scalar(value):
    """The number in a tensor or array of one element, as a 0-dim array; numbers and texts of numbers too."""
    array = np.asarray(float(value)) if isinstance(value, str) else as_array(value).squeeze()
    if array.ndim:
        raise AssertionError(f"Tensor should contain one element (0 dimensions). Was given size: {array.size} and "
                             f"{array.ndim} dimensions.")
    return array


def as_image(value, dataformats):
    """Bytes (height, width, 3 or 4) of an image, or of a grid of images, whose dimensions *dataformats* names."""
    array, order = as_array(value), dataformats.upper()
    if len(set(order)) != len(order):
        raise AssertionError(f"You can not use the same dimension shordhand twice.         input_format: {order}")
    if array.ndim != len(order):
        raise AssertionError("size of input tensor and input format are different.         tensor shape: "
                             f"{array.shape}, input_format: {order}")
    scaled = array if array.dtype == np.uint8 else array.astype(np.float32) * 255
    if set(order) == set("NCHW"):
        scaled = _grid(scaled.transpose([order.index(c) for c in "NCHW"]))
    elif set(order) == set("HWC"):
        scaled = scaled.transpose([order.index(c) for c in "HWC"])
    elif set(order) == set("HW"):
        scaled = scaled.transpose([order.index(c) for c in "HW"])[:, :, None]
    else:
        raise NotImplementedError(f"images in the format {dataformats} are not implemented")
    if scaled.shape[2] == 1:
        scaled = np.repeat(scaled, 3, 2)
    return scaled.clip(0, 255).astype(np.uint8)


def _grid(images, columns=COLUMNS):
    """Images (n, channels, height, width) in rows and columns: (rows * height, columns * width, channels)."""
    count, channels, height, width = images.shape
    columns = min(count, columns)
    rows = math.ceil(count / columns)
    grid = np.zeros((rows * columns, channels, height, width), images.dtype)
    grid[:count] = images
    grid = grid.reshape(rows, columns, channels, height, width).transpose(0, 3, 1, 4, 2)
    return grid.reshape(rows * height, columns * width, channels)


def sprite(images):
    """A square grid of the images (n, channels, height, width) of an embedding, as a PNG."""
    array = as_array(images)
    side = math.ceil(math.sqrt(len(array)))
    padded = np.zeros((side * side, *array.shape[1:]), array.dtype)
    padded[:len(array)] = array
    grid = _grid(padded if array.dtype == np.uint8 else padded.astype(np.float32) * 255, side)
    grid = np.repeat(grid, 3, 2) if grid.shape[2] == 1 else grid
    return png(grid.clip(0, 255).astype(np.uint8))


def png(image, boxes=None, labels=None, rescale=1):
    """The PNG of an image (height, width, channels) with boxes (left, top, right, bottom) drawn on it."""
    from PIL import Image

    picture = Image.fromarray(image)
    if boxes is not None:
        _draw(picture, as_array(boxes), labels)
    if rescale != 1:
        picture = picture.resize((int(picture.width * rescale), int(picture.height * rescale)), Image.LANCZOS)
    file = io.BytesIO()
    picture.save(file, format="PNG")
    return file.getvalue()


def _draw(picture, boxes, labels):
    from PIL import ImageDraw

    draw = ImageDraw.Draw(picture)
    for i, (left, top, right, bottom) in enumerate(boxes):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=2, fill="Red")
        if labels is not None:
            box = draw.textbbox((left, bottom), labels[i])
            draw.rectangle(box, fill="Red")
            draw.text((left, bottom), labels[i], fill="black")


def gif(frames, fps):
    """A GIF of frames (n, height, width, channels)."""
    from PIL import Image

    pictures = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=round(1000 / fps), loop=0)
    return file.getvalue()


def as_frames(videos):
    """Videos (n, time, channels, height, width) side by side: bytes (time, height, width, channels)."""
    array = as_array(videos)
    scaled = array if array.dtype == np.uint8 else array.astype(np.float32) * 255
    count, time, _, _, _ = scaled.shape
    columns = 1 << (max(count - 1, 0).bit_length() + 1) // 2
    frames = np.stack([_grid(scaled[:, t], columns) for t in range(time)])
    frames = np.repeat(frames, 3, 3) if frames.shape[3] == 1 else frames
    return frames.clip(0, 255).astype(np.uint8)


def wav(sound, sample_rate):
    """(WAV, number of samples) of a sound between -1 and 1; what is louder is cut off."""
    import wave

    array = as_array(sound).squeeze()
    if array.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    samples = (array.clip(-1, 1) * np.iinfo(np.int16).max).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(sample_rate)
        writer.writeframes(samples.tobytes())
    return file.getvalue(), len(samples)


def figure(figures):
    """The pictures (channels, height, width) of matplotlib figures, stacked if they come in a list."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if isinstance(figures, list):
        return np.stack([figure(f) for f in figures])
    canvas = FigureCanvasAgg(figures)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].transpose(2, 0, 1)
