"""Sliding windows of images as columns, and columns added up into images: each is the other's derivative."""
from .._core.declaring import op
from .arranging import pad_constant
from .samples import Draw, Samples, call

_SPACE = dict(namespace="torch.nn.functional", method=False, function=False)


@op(**_SPACE, backward_name="Im2ColBackward0",
    samples=Samples([call(Draw(2, 3, 4, 5), (2, 3), (1, 1), (0, 0), (1, 1)),
                     call(Draw(1, 2, 6, 5), (3, 2), (1, 2), (1, 2), (2, 1))],
                    reference=lambda torch: torch.nn.functional.unfold),
    grads={"self": lambda g, self_shape, kernel, dilation, padding, stride: fold_columns(
        g, tuple(self_shape[2:]), kernel, dilation, padding, stride)})
def unfold_columns(self, kernel, dilation, padding, stride):
    """The windows of (N, C, H, W) as columns (N, C * kH * kW, places)."""
    x = pad_constant(self, padding, padding) if any(padding) else self
    for i in range(2):
        x = x.unfold(2 + i, (kernel[i] - 1) * dilation[i] + 1, stride[i])
    x = x[..., ::dilation[0], ::dilation[1]]
    n, channels, height, width = x.shape[:4]
    return x.permute(0, 1, 4, 5, 2, 3).reshape(n, channels * kernel[0] * kernel[1], height * width)


@op(**_SPACE, backward_name="Col2ImBackward0",
    samples=Samples([call(Draw(2, 18, 6), (3, 5), (2, 3), (1, 1), (0, 0), (1, 1)),
                     call(Draw(1, 12, 21), (6, 5), (3, 2), (1, 2), (1, 2), (2, 1))],
                    reference=lambda torch: torch.nn.functional.fold),
    grads={"self": lambda g, kernel, dilation, padding, stride: unfold_columns(g, kernel, dilation, padding, stride)})
def fold_columns(self, size, kernel, dilation, padding, stride):
    """Columns (N, C * kH * kW, places) added up into (N, C, *size)."""
    full = [s + 2 * p for s, p in zip(size, padding)]
    places = [(f - d * (k - 1) - 1) // s + 1 for f, d, k, s in zip(full, dilation, kernel, stride)]
    n, channels = self.shape[0], self.shape[1] // (kernel[0] * kernel[1])
    columns = self.reshape(n, channels, *kernel, *places)
    image = self.new_zeros((n, channels, *full))
    for i in range(kernel[0]):
        rows = slice(i * dilation[0], i * dilation[0] + (places[0] - 1) * stride[0] + 1, stride[0])
        for j in range(kernel[1]):
            across = slice(j * dilation[1], j * dilation[1] + (places[1] - 1) * stride[1] + 1, stride[1])
            image[:, :, rows, across].add_(columns[:, :, i, j])
    return pad_constant(image, [-p for p in padding], [-p for p in padding]) if any(padding) else image
