"""A classic define-by-run tape: the oracle for reverse mode.

x = Variable(np.array([1.0, 2.0]))
y = (x * x).sum()
y.backward()
x.grad                     # [2. 4.]
"""

from srcad.testing.tape.graph import Function, Node, backward, gradients, no_grad
from srcad.testing.tape.variable import Variable
from srcad.testing.tracing.core import Unsupported

__all__ = ["Function", "Node", "Unsupported", "Variable", "backward", "gradients", "no_grad"]
