"""Compiled loops on raw memory; they know nothing of tensors."""
