"""What the cores did in that time: samples of stacks, by what their functions do."""
