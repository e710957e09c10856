"""tensorboardX: writing what it can write without a traced graph."""
import os
import tempfile

import torch
from tensorboardX import SummaryWriter

torch.manual_seed(0)
folder = tempfile.mkdtemp()
writer = SummaryWriter(folder)
writer.add_scalar('loss', torch.tensor(1.5), 1)
writer.add_scalars('both', {'x': 1, 'y': torch.tensor(2)}, 1)
writer.add_histogram('weights', torch.nn.Linear(3, 3).weight, 1)
writer.add_image('image', torch.rand(3, 8, 8), 1)
writer.add_text('text', 'words', 1)
writer.add_embedding(torch.randn(4, 3), metadata=list('abcd'))
writer.add_pr_curve('curve', torch.tensor([0, 1, 1]), torch.tensor([0.1, 0.8, 0.4]), 1)
writer.close()
events = [name for name in os.listdir(folder) if name.startswith('events')]
content = b''.join(open(os.path.join(folder, name), 'rb').read() for name in events)
for tag in (b'loss', b'weights', b'image', b'text', b'curve'):
    assert tag in content, tag
print('tensorboardX: fine')
