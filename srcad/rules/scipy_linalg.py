"""Rules of `scipy.linalg`: loaded when SciPy is."""
