"""The tensors that the tests of the torch.sparse document share."""


def example(torch):
    """The document's tensor: 3 at (0, 2), 4 at (1, 0), 5 at (1, 2)."""
    i = torch.LongTensor([[0, 1, 1], [2, 0, 2]])
    return torch.sparse.FloatTensor(i, torch.FloatTensor([3, 4, 5]), torch.Size([2, 3]))


def duplicated(torch):
    """The same tensor with its 5 given as 2 + 3 at one coordinate."""
    i = torch.LongTensor([[0, 1, 1, 1], [2, 2, 0, 2]])
    return torch.sparse.FloatTensor(i, torch.FloatTensor([3, 2, 4, 3]), torch.Size([2, 3]))


def dense(tensor):
    """The elements of a sparse or dense tensor as nested lists."""
    return (tensor.to_dense() if tensor.is_sparse else tensor).tolist()
