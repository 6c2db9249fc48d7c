"""Array code as explicit loops over elements: a pass of the IR for compilers of scalar loops.

    t: f8[n] = mul(x, x)         |    s = for i in range(n) with a = 0.0
    y: f8[n] = sin(t)            |        e = getitem(x, i)
    s: float = sum(y)            |        t = mul(e, e)
                                 |        y = sin(t)
                                 |        yield add(a, y)

``to_loops`` takes a finished function (what ``pipeline.finish`` returns) and returns a valid one
that computes the same, up to rounding.  What it cannot turn into loops stays as it is.  The result
is ordinary IR (``For`` over ``Range``, ``getitem`` and ``setitem`` of elements): the Python printer
prints it too, and it runs there, slowly.

*Assumptions.*  Where types leave open what only a rare call does (a size that is 1 at run time, a
slice that is clipped) the loops are made for the common case, and checks are put before them which
raise ``runtime.Unforeseen``.  Whoever runs the function catches that and calls the code that was
not turned into loops with the same arguments: it has NumPy's meaning, and its errors.  A function
with effects cannot be run twice: ``to_loops(function, assume=False)`` makes no assumptions.

*What a compiler has to do.*  ``select`` has no branch; ``np.float32(x)`` and the like convert
numbers; ``np.divide`` of numbers follows IEEE 754.  The indices of the loops are right: they need
no checks of their own.
"""

from srcad.backends.loops.passes import to_loops

__all__ = ["to_loops"]
