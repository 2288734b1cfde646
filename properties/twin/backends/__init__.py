"""What is driven beside the model: each backend takes the steps of the model in its own way. Only these import `impl`."""
