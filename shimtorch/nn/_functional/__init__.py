"""The functions of torch.nn.functional, one family a file."""
