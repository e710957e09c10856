"""A transformer language model with a causal mask, on the letters of the Zen of Python (PyTorch 1.11)."""
import codecs
import contextlib
import io
import math

import torch
from torch import Tensor, nn
from torch.nn import TransformerEncoder, TransformerEncoderLayer

with contextlib.redirect_stdout(io.StringIO()):
    import this

torch.manual_seed(0)
text = codecs.decode(this.s, 'rot13').lower()
vocab = {c: i for i, c in enumerate(sorted(set(text)))}
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 64):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer('pe', pe)

    def forward(self, x: Tensor) -> Tensor:
        return self.dropout(x + self.pe[:x.size(0)])


class TransformerModel(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int, dropout: float = 0.1):
        super().__init__()
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        layers = TransformerEncoderLayer(d_model, nhead, d_hid, dropout)
        self.transformer_encoder = TransformerEncoder(layers, nlayers)
        self.encoder = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.decoder = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self) -> None:
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.zero_()
        self.decoder.weight.data.uniform_(-0.1, 0.1)

    def forward(self, src: Tensor, src_mask: Tensor) -> Tensor:
        src = self.pos_encoder(self.encoder(src) * math.sqrt(self.d_model))
        return self.decoder(self.transformer_encoder(src, src_mask))


def generate_square_subsequent_mask(sz: int) -> Tensor:
    return torch.triu(torch.ones(sz, sz) * float('-inf'), diagonal=1)


def batchify(data: Tensor, bsz: int) -> Tensor:
    seq_len = data.size(0) // bsz
    return data[:seq_len * bsz].view(bsz, seq_len).t().contiguous().to(device)


bptt, ntokens = 20, len(vocab)
data = batchify(torch.tensor([vocab[c] for c in text]), 8)
model = TransformerModel(ntokens, 32, 2, 48, 2).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=15)


def run(train: bool):
    model.train(train)
    total_loss, correct, count = 0., 0, 0
    mask = generate_square_subsequent_mask(bptt).to(device)
    for i in range(0, data.size(0) - 1, bptt):
        seq_len = min(bptt, len(data) - 1 - i)
        source, targets = data[i:i + seq_len], data[i + 1:i + 1 + seq_len].reshape(-1)
        output = model(source, mask[:seq_len, :seq_len]).view(-1, ntokens)
        loss = criterion(output, targets)
        if train:
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
        total_loss += loss.item() * len(targets)
        correct += (output.argmax(1) == targets).sum().item()
        count += len(targets)
    return total_loss / count, correct / count


for epoch in range(1, 16):
    loss, _ = run(True)
    scheduler.step()
    if epoch % 3 == 0:
        print(f'epoch {epoch} loss: {loss:.4f}')
with torch.no_grad():
    print('final loss: {:.6f} accuracy: {:.4f}'.format(*run(False)))
