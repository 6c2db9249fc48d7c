"""Random programs against the oracle: generate, print, run, compare, shrink.

    choices -> generate -> tree -> printer -> runner -> shrink
                             |                  |
                        metamorphic      engines, oracle, trace

A program is a small tree of statements and expressions (`tree`), built from a table of typed
operations (`grammar`) by a stream of small integers (`choices`), so that a seed, or Hypothesis,
decides everything. `python -m tests.fuzz --help` runs any number of them.
"""
