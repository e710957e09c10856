"""torchvision 0.2.2: models, transforms, and data sets on local files."""
import os
import tempfile

import numpy as np
import PIL
import torch

PIL.PILLOW_VERSION = PIL.__version__  # which Pillow no longer says under this name

from PIL import Image  # noqa: E402
from torchvision import datasets, models, transforms, utils  # noqa: E402

torch.manual_seed(0)
folder = tempfile.mkdtemp()

# Models, with the numbers of parameters that PyTorch's have.
for name, parameters in (('alexnet', 57032519), ('resnet18', 11180103), ('squeezenet1_1', 726087)):
    model = getattr(models, name)(num_classes=7).eval()
    assert sum(p.numel() for p in model.parameters()) == parameters, name
    with torch.no_grad():
        assert model(torch.randn(1, 3, 224, 224)).shape == (1, 7), name
state = models.resnet18().state_dict()
path = os.path.join(folder, 'resnet18-5c106cde.pth')
torch.save(state, path)
models.resnet.model_urls['resnet18'] = 'file://' + path
os.environ['TORCH_HOME'] = os.path.join(folder, 'cache')
pretrained = models.resnet18(pretrained=True)
assert all(torch.equal(value, state[key]) for key, value in pretrained.state_dict().items())

# Transforms.
image = Image.fromarray((np.arange(40 * 50 * 3) % 255).reshape(40, 50, 3).astype('uint8'))
x = transforms.ToTensor()(image)
assert x.shape == (3, 40, 50) and abs(float(x.sum()) - 2956.4707) < 1e-2
assert np.array_equal(np.asarray(transforms.ToPILImage()(x)), np.asarray(image))
pipeline = transforms.Compose([
    transforms.Resize(32), transforms.RandomCrop(28, padding=2), transforms.RandomHorizontalFlip(),
    transforms.ColorJitter(0.1, 0.1, 0.1), transforms.RandomAffine(5), transforms.Grayscale(3), transforms.ToTensor(),
    transforms.Normalize((0.5, 0.5, 0.5), (0.2, 0.2, 0.2))])
assert pipeline(image).shape == (3, 28, 28)
assert transforms.LinearTransformation(2 * torch.eye(12))(torch.ones(3, 2, 2)).sum() == 24

# Data sets.
for label in 'ab':
    os.makedirs(os.path.join(folder, 'images', label))
    for i in range(3):
        image.save(os.path.join(folder, 'images', label, '%d.png' % i))
dataset = datasets.ImageFolder(os.path.join(folder, 'images'), transforms.ToTensor())
assert dataset.classes == ['a', 'b']
batches = list(torch.utils.data.DataLoader(dataset, batch_size=4, num_workers=1))
assert [y.tolist() for _, y in batches] == [[0, 0, 0, 1], [1, 1]] and torch.equal(batches[0][0][0], x)

processed = os.path.join(folder, 'mnist', 'MNIST', 'processed')
os.makedirs(processed)
digits = torch.arange(20 * 28 * 28).view(20, 28, 28).to(torch.uint8)
for part in ('training.pt', 'test.pt'):
    torch.save((digits, torch.arange(20)), os.path.join(processed, part))
mnist = datasets.MNIST(os.path.join(folder, 'mnist'), train=True, transform=transforms.ToTensor())
assert len(mnist) == 20 and mnist[3][1] == 3 and torch.equal((mnist[3][0] * 255).round().byte()[0], digits[3])

# Tools.
assert utils.make_grid(torch.rand(6, 3, 8, 8), nrow=3).shape == (3, 22, 32)
utils.save_image(torch.rand(2, 3, 8, 8), os.path.join(folder, 'x.png'))
assert Image.open(os.path.join(folder, 'x.png')).size == (22, 12)
print('torchvision: fine')
