"""torchnet: meters, data sets and the engine."""
import torch
import torchnet as tnt
from torchnet.engine import Engine
from torchnet.meter import AUCMeter, AverageValueMeter, ClassErrorMeter, ConfusionMeter, MSEMeter

torch.manual_seed(0)
average = AverageValueMeter()
for value in (1.0, 3.0):
    average.add(value)
assert average.value()[0] == 2.0
errors = ClassErrorMeter(topk=[1], accuracy=True)
errors.add(torch.eye(3), torch.tensor([0, 1, 1]))
assert abs(errors.value()[0] - 200 / 3) < 1e-4
confusion = ConfusionMeter(3)
confusion.add(torch.eye(3), torch.tensor([0, 1, 1]))
assert confusion.value().tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
auc = AUCMeter()
auc.add(torch.tensor([0.1, 0.9, 0.4]), torch.tensor([0, 1, 1]))
assert auc.value()[0] == 1.0
squares = MSEMeter()
squares.add(torch.ones(3), torch.zeros(3))
assert squares.value() == 1.0
doubled = tnt.dataset.ListDataset([1, 2, 3], lambda x: 2 * x)
assert [doubled[i] for i in range(3)] == [2, 4, 6]

model = torch.nn.Linear(1, 1)
losses, engine = [], Engine()
engine.hooks['on_forward'] = lambda state: losses.append(state['loss'].item())
engine.train(
    lambda sample: (torch.nn.functional.mse_loss(model(sample[0]), sample[1]), None),
    [(torch.ones(2, 1), torch.zeros(2, 1))] * 3, 2, torch.optim.SGD(model.parameters(), lr=0.1))
assert len(losses) >= 6 and losses[-1] < losses[0] / 10
print('torchnet: fine')
