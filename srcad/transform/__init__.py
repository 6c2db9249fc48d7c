"""From IR to the IR of its derivative: forward mode, reverse mode, and what is made of them."""
