"""PyTorch's RPC and distributed autograd, as the kit judges them."""
