"""Programs of plain PyTorch that show defects of references and calls."""
