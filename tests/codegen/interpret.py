"""The meaning of the IR, as directly as it can be written: nothing is ever written in place.

``Update`` and ``Accumulate`` work on a copy of their target, so that two values never share memory
that changes.  What generated code computes is compared with this.
"""

import operator

import numpy as np

from srcad.ir.core import (
    Accumulate,
    Apply,
    Call,
    Effect,
    For,
    If,
    Items,
    Literal,
    Range,
    Try,
    Update,
    While,
    With,
)


def run(function, *args):
    """The values that the function yields, as a tuple."""
    env = dict(zip(function.params, args, strict=True))
    return run_block(function.body, env)


def run_block(block, env):
    for op in block.ops:
        run_op(op, env)
    return tuple(read(atom, env) for atom in block.yields)


def read(atom, env):
    return atom.value if isinstance(atom, Literal) else env[atom]


def bind(env, values, objects):
    env.update(zip(values, objects, strict=True))


def apply(callee, args, keywords):
    if not callable(callee):  # an attribute of a built-in type
        return callee.__get__(args[0])
    return callee(*args, **keywords)


def copy(obj):
    return obj.copy() if isinstance(obj, (np.ndarray, list, dict)) else obj


def run_op(op, env):
    match op:
        case Apply() | Effect():
            args = [read(a, env) for a in op.args]
            out = apply(op.callee, args, {k: read(a, env) for k, a in op.keywords})
            if op.result is not None:
                env[op.result] = out
        case Update():
            version = copy(env[op.target])
            args = [read(a, env) for a in op.args]
            if op.callee in (operator.iadd, operator.isub):  # of an index and a term
                index, term = args
                out = version[index] = op.callee(version[index], term)
            else:
                out = op.callee(version, *args)
            env[op.version] = version
            if op.result is not None:
                env[op.result] = out
        case Accumulate():
            env[op.version] = accumulate(
                read(op.target, env),
                None if op.index is None else read(op.index, env),
                read(op.term, env),
                op.index is None,
            )
        case If():
            block = op.then if read(op.test, env) else op.orelse
            bind(env, op.results, run_block(block, env))
        case For():
            carried = tuple(read(a, env) for a in op.carried)
            for items in zip(*(stream(s, env) for s in op.streams)):
                bind(env, op.body.params, (*items, *carried))
                out = run_block(op.body, env)
                carried = out[: len(carried)]
                if op.stops and out[-1]:
                    break
            bind(env, op.results, carried)
        case While():
            carried = tuple(read(a, env) for a in op.carried)
            while True:
                bind(env, op.test.params, carried)
                if not run_block(op.test, env)[0]:
                    break
                bind(env, op.body.params, carried)
                out = run_block(op.body, env)
                carried = out[: len(carried)]
                if op.stops and out[-1]:
                    break
            bind(env, op.results, carried)
        case With():
            with read(op.manager, env) as target:
                bind(env, op.body.params, (target,)[: len(op.body.params)])
                out = run_block(op.body, env)
            bind(env, op.results, out)
        case Try():
            bind(env, op.results, run_try(op, env))
        case Call():
            out = run(op.function.function, *(read(a, env) for a in op.args))
            bind(env, op.results, out)


def run_try(op, env):
    try:
        return run_block(op.body, env)
    except Exception as error:
        for handler in op.handlers:
            if handler.kinds is None or isinstance(error, read(handler.kinds, env)):
                bind(env, handler.body.params, (error,)[: len(handler.body.params)])
                return run_block(handler.body, env)
        raise
    finally:
        if op.final is not None:
            run_block(op.final, env)


def stream(s, env):
    match s:
        case Range():
            return range(*(read(a, env) for a in (s.start, s.stop, s.step)))
        case Items(backward=True):
            return reversed(read(s.sequence, env))
        case Items():
            return read(s.sequence, env)


def accumulate(target, index, term, whole):
    if whole:
        return target + term
    version = copy(target)
    if isinstance(version, dict):
        version[index] = version.get(index, 0.0) + term
    elif isinstance(version, list):
        version[index] = version[index] + term
    else:
        np.add.at(version, index, term)
    return version
