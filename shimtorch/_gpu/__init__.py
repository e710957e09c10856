"""CUDA devices: memory, streams, kernels and cuBLAS. Imported at the first use of one."""
