"""Let an unchanged function run on handles.

Plain functions use `math.sin(x)`, `float(x[i])`, `np.zeros(n)`, none of which can be told about
handles. `lift(f)` gives a copy of `f`, and of what it reaches in modules that are no libraries,
which sees versions that can; the code itself is the same.
"""

from srcad.testing.lifting.lift import lift, lift_value

__all__ = ["lift", "lift_value"]
