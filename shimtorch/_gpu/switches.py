"""What the program lets the libraries do for the sake of speed."""

allow_tf32 = False                     # products of float32 may round their factors to 10 bits
