"""torchtext 0.2.3: fields, vocabularies and iterators."""
import torch
from torchtext import data

torch.manual_seed(0)
TEXT = data.Field(lower=True, include_lengths=True, batch_first=True)
LABEL = data.Field(sequential=False, unk_token=None)
fields = [('text', TEXT), ('label', LABEL)]
rows = [('The cat sat', 'pos'), ('a Dog ran away fast', 'neg'), ('the end', 'pos'), ('no cat no dog', 'neg')]
dataset = data.Dataset([data.Example.fromlist(row, fields) for row in rows], fields)
TEXT.build_vocab(dataset)
LABEL.build_vocab(dataset)
assert TEXT.vocab.itos[:6] == ['<unk>', '<pad>', 'cat', 'dog', 'no', 'the'] and len(TEXT.vocab) == 12

iterator = data.BucketIterator(dataset, 2, sort_key=lambda e: len(e.text), device=torch.device('cpu'), repeat=False)
seen = []
for batch in iterator:
    words, lengths = batch.text
    assert words.shape == (2, int(lengths.max()))
    for row, length, label in zip(words, lengths, batch.label):
        seen.append((' '.join(TEXT.vocab.itos[i] for i in row[:length]), LABEL.vocab.itos[label]))
assert sorted(seen) == sorted((text.lower(), label) for text, label in rows)
print('torchtext: fine')
