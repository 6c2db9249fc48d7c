"""Facts about the IR: each analysis reads a block and changes nothing."""
