"""What is driven beside the model: each backend performs the model's actions in its own way. Only here is `impl` imported."""
