"""Random programs that write arrays in place: generate, check, rewrite, shrink.

    choices -> generate -> text -> check -> shrink
                             |        |
                          rewrite  reference

A program is text; what works on it reads its syntax tree. Shapes are known while it is generated,
so that nearly every program runs. `python -m tests.fuzz.arrays --help` runs any number of them.
"""
