"""What was found in PyTorch 2.13: the list, the programs that show it, and how often they did."""
