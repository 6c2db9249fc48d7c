"""From Python source to IR: what a function does, without knowing of derivatives."""
