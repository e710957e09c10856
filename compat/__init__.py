"""What PyTorch's own documents say and what scripts of its time do, version by version, as tests."""
