"""The file formats of ``torch.save`` and ``torch.load``, a module each, and what they share."""
