"""What PyTorch's own documents say and what scripts of its time do, version by version, as tests."""
import os

if os.environ.get("COMPAT_TORCH", "shimtorch") == "shimtorch":
    import tests  # noqa: F401  (imports the shimtorch that is installed, not the clone's sources)
