"""The parts of torch.utils.benchmark under the paths that torch has them at."""
