"""Independent checks of derivatives: a tape, dual numbers, complex steps and differences."""
