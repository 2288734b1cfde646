"""Programs of plain PyTorch that show defects of distributed autograd."""
