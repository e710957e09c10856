"""Print what a version of real torch writes for modules and optimizers; run with each, it adds to reprs.json:

    python tests/answers/make_reprs.py
"""
import json
import os

import torch
from torch import nn  # noqa: F401  (for the expressions)

EXPRESSIONS = """
nn.Linear(2,3)
nn.Linear(2,3,bias=False)
nn.Bilinear(2,3,4)
nn.Conv1d(2,3,3)
nn.Conv2d(2,4,3,2,1,groups=2)
nn.Conv2d(2,3,(3,5),dilation=2,bias=False)
nn.ConvTranspose2d(2,3,3,2,1,1)
nn.MaxPool2d(2)
nn.MaxPool2d(3,2,1,ceil_mode=True)
nn.AvgPool2d(2)
nn.AdaptiveAvgPool2d((2,3))
nn.LPPool2d(2,3)
nn.ReLU()
nn.ReLU(True)
nn.LeakyReLU(0.2,True)
nn.ELU()
nn.PReLU()
nn.Hardtanh()
nn.Softplus()
nn.Threshold(1,2)
nn.Softmax(dim=1)
nn.LogSoftmax(dim=1)
nn.Dropout()
nn.Dropout(0.2,True)
nn.Dropout2d()
nn.AlphaDropout()
nn.BatchNorm1d(3)
nn.BatchNorm2d(3,affine=False)
nn.InstanceNorm2d(3)
nn.LayerNorm([3,4])
nn.LayerNorm(3)
nn.GroupNorm(2,4)
nn.Embedding(5,3,padding_idx=0,sparse=True)
nn.EmbeddingBag(5,3)
nn.LSTM(2,3,2,dropout=0.5,bidirectional=True)
nn.GRU(2,3,batch_first=True)
nn.LSTMCell(2,3)
nn.CrossEntropyLoss()
nn.CosineSimilarity()
nn.ZeroPad2d(1)
nn.ConstantPad1d(1,2.5)
nn.Upsample(scale_factor=2)
nn.Upsample(size=(2,3),mode='bilinear')
nn.PixelShuffle(2)
nn.Sequential(nn.Linear(1,2),nn.Sequential(nn.ReLU(),nn.Dropout()))
nn.ParameterList([nn.Parameter(torch.ones(2,3))])
nn.ModuleDict({'a':nn.ReLU()})
torch.optim.SGD([torch.ones(1,requires_grad=True)],lr=0.1)
torch.optim.Adam([torch.ones(1,requires_grad=True)])
""".split("\n")[1:-1]


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reprs.json")
    table = json.load(open(path)) if os.path.exists(path) else {}
    version = torch.__version__.partition("+")[0]
    for expression in EXPRESSIONS:
        table.setdefault(expression, {})[version] = repr(eval(expression))
    with open(path, "w") as file:
        json.dump(table, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
