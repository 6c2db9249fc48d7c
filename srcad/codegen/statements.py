"""Statements: the operations of a function in order, with the copies that hand values on."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcad.codegen.accumulation import accumulate
from srcad.codegen.comments import Comments, docstring_lines
from srcad.codegen.expressions import IN_PLACE, Expressions, width
from srcad.codegen.globals import GlobalNames
from srcad.codegen.literals import call, constant, dotted, name
from srcad.codegen.liveness import Copies
from srcad.codegen.nest import inputs, is_nested
from srcad.codegen.plan import Plan
from srcad.codegen.survey import is_reverse
from srcad.ir.core import (
    Accumulate,
    Apply,
    Atom,
    Block,
    Call,
    Effect,
    For,
    FunctionRef,
    If,
    Items,
    Literal,
    Loc,
    Op,
    Range,
    Stream,
    Try,
    Update,
    Value,
    While,
    With,
    assert_true,
    check_bound,
    is_int,
    is_undefined,
    raise_error,
)
from srcad.ir.types import Array
from srcad.ir.walk import blocks, operands

_CHOICE_WIDTH = 70
_UNBOUND = "cannot access local variable {!r} where it is not associated with a value"


class Statements:
    """Builds the definition of one function."""

    def __init__(
        self,
        plan: Plan,
        names: GlobalNames,
        comments: Comments,
        called: Callable[[FunctionRef], str],
        origins: dict[int, Loc],
        compiled: bool = False,
    ) -> None:
        """``called`` names called functions; ``origins`` collects where nodes stem from.

        ``compiled``: the definition is for a compiler.
        """
        self.plan = plan
        self.names = names
        self.comments = comments
        self.called = called
        self.origins = origins
        self.expressions = Expressions(plan.variables, plan.nested, names, compiled)
        self._unused = "_"
        self._carried: set[str] = set()
        self._false: set[Value] = set()
        """Flags whose variable is False as long as their loop runs."""

    def function(self, name_: str, doc: str) -> Any:
        """The ``def`` statement."""
        function = self.plan.survey.function
        body = function.body
        if "_" in self.plan.variables.taken():
            self._unused = self.names.new_name("unused")
        locs = [op.loc for op in body.ops if op.loc is not None]
        self.comments.start_function(any(map(is_reverse, locs)), not all(map(is_reverse, locs)))
        statements = [self.comments.marker(docstring_lines(doc))] if doc else []
        for param in function.params:
            if param in self.plan.survey.unpacked:
                whole = name(self.plan.variables[param])
                statements.append(gast.Assign([self.store(param)], whole, None))
        statements += self._body(body, top=True)
        yields = [self.expressions.atom(a) for a in body.yields]
        if len(yields) == 1:
            statements.append(gast.Return(yields[0]))
        elif yields:
            statements.append(gast.Return(gast.Tuple(yields, gast.Load())))
        params = [
            gast.Name(self.plan.variables[p], gast.Param(), None, None) for p in function.params
        ]
        arguments = gast.arguments(params, [], None, [], [], None, [])
        definition = gast.FunctionDef(
            name_, arguments, statements or [gast.Pass()], [], None, None, []
        )
        if doc and len(statements) == 1:
            definition.body.append(gast.Pass())
        if function.loc is not None:
            self.origins[id(definition)] = function.loc
        return definition

    # ---- parts that statements are made of

    def add(self, out: list[Any], node: Any, loc: Loc | None, top: bool) -> None:
        """Append a statement with the comments that go before it."""
        out.extend(self.comments.before(loc, top))
        self.place(out, node, loc)

    def place(self, out: list[Any], node: Any, loc: Loc | None) -> None:
        """Append a statement that has its comments."""
        if loc is not None:
            self.origins[id(node)] = loc
        out.append(node)

    def store(self, value: Value) -> Any:
        """What a value is assigned to: a name, a tuple of names, or ``_``."""
        pattern = self.plan.survey.unpacked.get(value)
        if pattern is not None:
            parts = [self._hole() if part is None else self.store(part) for part in pattern]
            return gast.Tuple(parts, gast.Store())
        if value not in self.plan.liveness.needed:
            return self._hole()
        return gast.Name(self.plan.variables[value], gast.Store(), None, None)

    def _hole(self) -> Any:
        return gast.Name(self._unused, gast.Store(), None, None)

    def is_used(self, value: Value) -> bool:
        """Whether anybody reads a value, or a part of it."""
        return any(part in self.plan.liveness.needed for part in self.plan.survey.parts(value))

    def same_variable(self, a: Value, b: Atom) -> bool:
        """Whether two values live in one variable."""
        if not isinstance(b, Value) or b in self.plan.nested:
            return False
        return self.plan.variables[a] == self.plan.variables[b]

    def copies(
        self, copies: Copies, loc: Loc | None, top: bool = False, *, opening: bool = False
    ) -> list[Any]:
        """A parallel copy as assignments, of which none overwrites what a later one reads.

        Handing on says nothing of the line of a loop or branch, unless it opens the loop.
        """
        out: list[Any] = []
        pending = [
            (self.plan.variables[target], source)
            for target, source in copies
            if target in self.plan.liveness.needed
            and not self.same_variable(target, source)
            and not is_undefined(source)
            and not (
                target in self._false and isinstance(source, Literal) and source.value is False
            )
        ]
        if len(pending) == 1:
            reads: list[frozenset[str]] = [frozenset()]
        else:
            reads = [self._variables_read(source) for _, source in pending]
        while pending:
            for place, (target, source) in enumerate(pending):
                if not any(target in r for k, r in enumerate(reads) if k != place):
                    node = gast.Assign(
                        [gast.Name(target, gast.Store(), None, None)],
                        self.expressions.atom(source),
                        None,
                    )
                    origin = self._origin(source)
                    if origin is not None or opening:
                        self.add(out, node, origin or loc, top)
                    else:
                        self.place(out, node, loc)
                    del pending[place], reads[place]
                    break
            else:
                targets = [gast.Name(target, gast.Store(), None, None) for target, _ in pending]
                values = [self.expressions.atom(source) for _, source in pending]
                node = gast.Assign(
                    [gast.Tuple(targets, gast.Store())], gast.Tuple(values, gast.Load()), None
                )
                if opening:
                    self.add(out, node, loc, top)
                else:
                    self.place(out, node, loc)
                break
        return out + self._nothing(copies, loc)

    def _nothing(self, copies: Copies, loc: Loc | None) -> list[Any]:
        """``a = b = None``, for what gets no value here but is looked at later."""
        targets = [
            gast.Name(self.plan.variables[target], gast.Store(), None, None)
            for target, source in copies
            if target in self.plan.liveness.needed
            and is_undefined(source)
            and not self._stays_unbound(target)
        ]
        nothing: list[Any] = []
        if targets:
            self.place(nothing, gast.Assign(targets, constant(None), None), loc)
        return nothing

    def _opening(self, op: For | While, params: tuple[Value, ...], top: bool) -> list[Any]:
        """What a loop starts with."""
        return self.copies(tuple(zip(params, op.carried, strict=True)), op.loc, top, opening=True)

    def _stays_unbound(self, target: Value) -> bool:
        """Whether nothing is printed where a name gets no value.

        In a loop that carries it the name has the value of an earlier iteration, as in the primal.
        """
        return target not in self.plan.none or self.plan.variables[target] in self._carried

    def _carry(self, params: tuple[Value, ...], carried: tuple[Atom, ...]) -> set[str]:
        """Note the names that are bound when a loop starts; returns those of the loops around."""
        around = self._carried
        self._carried = around | {
            self.plan.variables[param]
            for param, start in zip(params, carried, strict=True)
            if param in self.plan.liveness.needed
            and not (is_undefined(start) and param not in self.plan.none)
        }
        return around

    def _origin(self, atom: Atom) -> Loc | None:
        op = self.plan.nested.get(atom) if isinstance(atom, Value) else None
        return None if op is None else op.loc

    def _variables_read(self, atom: Atom) -> frozenset[str]:
        mask = self.plan.liveness.reads(atom)
        found = set()
        while mask:
            low = mask & -mask
            found.add(self.plan.variables[self.plan.survey.values[low.bit_length() - 1]])
            mask ^= low
        return frozenset(found)

    # ---- blocks

    def _body(
        self,
        block: Block,
        top: bool = False,
        flag: Atom | None = None,
        leave: tuple[Copies, ...] = (),
    ) -> list[Any]:
        """The statements of a block, without its yields.

        ``flag`` is the stop flag of the loop whose body ends with this block; a ``break`` does the
        copies in ``leave`` first.
        """
        out: list[Any] = []
        for op in block.ops:
            if op not in self.plan.survey.skipped:
                last = flag is not None and op is block.ops[-1]
                self._op(op, out, top, flag if last else None, leave)
        return out

    def _op(
        self, op: Op, out: list[Any], top: bool, flag: Atom | None, leave: tuple[Copies, ...]
    ) -> None:
        match op:
            case _ if is_nested(op, self.plan.nested):
                pass
            case Apply(result=result):
                if self.is_used(result):
                    value = self.expressions.operation(op)
                    self.add(out, gast.Assign([self.store(result)], value, None), op.loc, top)
                elif self.plan.survey.is_watched(result):
                    self.add(out, gast.Expr(self.expressions.operation(op)), op.loc, top)
                else:
                    self._pops(op.loc, operands(op), out, top)
            case Effect():
                self._effect(op, out, top)
            case Update():
                self._update(op, out, top)
            case Accumulate(version=version):
                if self.is_used(version):
                    accumulate(self, op, out, top)
                else:
                    self._pops(op.loc, operands(op), out, top)
            case If():
                self._if(op, out, top, flag, leave)
            case For():
                self._for(op, out, top)
            case While():
                self._while(op, out, top)
            case With():
                self._with(op, out, top)
            case Try():
                self._try(op, out, top)
            case Call():
                self._call(op, out, top)

    # ---- simple statements

    def _effect(self, op: Effect, out: list[Any], top: bool) -> None:
        atom = self.expressions.atom
        args = op.args
        if op.callee is raise_error:
            cause = None if len(args) < 2 or _is_none(args[1]) else atom(args[1])
            node = gast.Raise(atom(args[0]) if args else None, cause)
        elif op.callee is assert_true:
            message = None if len(args) < 2 or _is_none(args[1]) else atom(args[1])
            node = gast.Assert(atom(args[0]), message)
        elif op.callee is check_bound:
            assert isinstance(args[1], Literal)
            message = constant(_UNBOUND.format(args[1].value))
            error = call(dotted(self.names.builtin("UnboundLocalError")), [message])
            test = gast.Compare(atom(args[0]), [gast.Is()], [constant(None)])
            node = gast.If(test, [gast.Raise(error, None)], [])
        else:
            value = self.expressions.operation(op)
            if op.result is not None and self.is_used(op.result):
                node = gast.Assign([self.store(op.result)], value, None)
            else:
                node = gast.Expr(value)
        self.add(out, node, op.loc, top)

    def _update(self, op: Update, out: list[Any], top: bool) -> None:
        if self.is_used(op.version) and not self.same_variable(op.version, op.target):
            node = gast.Assign([self.store(op.version)], self.expressions.atom(op.target), None)
            self.add(out, node, op.loc, top)
        if op.result in self.plan.nested:
            return
        target = op.version if self.is_used(op.version) else op.target
        if isinstance(op.target.type, Array) or op.path:
            self.add(out, self._array_write(op, target), op.loc, top)
            return
        item = self._written_item(op, target)
        if op.callee is operator.delitem:
            node = gast.Delete([item])
        elif op.callee in (operator.setitem, setattr) and item is not None:
            node = gast.Assign([item], self.expressions.atom(op.args[-1]), None)
        elif id(op.callee) in IN_PLACE:
            variable = gast.Name(self.plan.variables[target], gast.Store(), None, None)
            node = gast.AugAssign(
                variable, IN_PLACE[id(op.callee)](), self.expressions.atom(op.args[0])
            )
        else:
            value = self.expressions.call(op.callee, (target, *op.args))
            if op.result is not None and self.is_used(op.result):
                node = gast.Assign([self.store(op.result)], value, None)
            else:
                node = gast.Expr(value)
        self.add(out, node, op.loc, top)

    def _array_write(self, op: Update, target: Value) -> Any:
        index, value = op.args
        base = self.expressions.viewed(self.expressions.atom(target), op.path)
        term = self.expressions.atom(value)
        if op.callee in (np.add.at, np.subtract.at):
            ufunc = self.expressions.callee(np.add if op.callee == np.add.at else np.subtract)
            at = gast.Attribute(ufunc, "at", gast.Load())
            return gast.Expr(call(at, [base, self.expressions.atom(index), term]))
        whole = isinstance(index, Literal) and index.value is Ellipsis
        if op.callee is operator.setitem or not whole or op.path:
            item = gast.Subscript(base, self.expressions.index(index), gast.Store())
        else:
            item = gast.Name(self.plan.variables[target], gast.Store(), None, None)
        if op.callee is operator.setitem:
            return gast.Assign([item], term, None)
        return gast.AugAssign(item, IN_PLACE[id(op.callee)](), term)

    def _written_item(self, op: Update, target: Value) -> Any:
        base = self.expressions.atom(target)
        if op.callee in (operator.setitem, operator.delitem):
            ctx = gast.Del() if op.callee is operator.delitem else gast.Store()
            return gast.Subscript(base, self.expressions.index(op.args[0]), ctx)
        if op.callee is setattr and isinstance(op.args[0], Literal):
            return gast.Attribute(base, op.args[0].value, gast.Store())
        return None

    def _call(self, op: Call, out: list[Any], top: bool) -> None:
        value = call(name(self.called(op.function)), [self.expressions.atom(a) for a in op.args])
        targets = [self.store(r) for r in op.results]
        node: Any
        if not any(map(self.is_used, op.results)):
            node = gast.Expr(value)
        elif len(targets) == 1:
            node = gast.Assign(targets, value, None)
        else:
            node = gast.Assign([gast.Tuple(targets, gast.Store())], value, None)
        self.add(out, node, op.loc, top)

    # ---- branches

    def _if(
        self, op: If, out: list[Any], top: bool, flag: Atom | None, leave: tuple[Copies, ...]
    ) -> None:
        point = self.comments.mark()
        markers = self.comments.before(op.loc, top)
        place = op.results.index(flag) if isinstance(flag, Value) and flag in op.results else None
        with self.comments.inside():
            then, then_leaves = self._branch(op, op.then, place, leave)
        with self.comments.inside():
            orelse, orelse_leaves = self._branch(op, op.orelse, place, leave)
        if not then and not orelse:
            self.comments.forget(point)
            self._pops(op.loc, (op.test,), out, top)
            return
        out.extend(markers)
        choice = self._choice(op, then, orelse)
        if choice is not None:
            self.place(out, choice, op.loc)
            return
        rest: list[Any] = []
        test = self.expressions.atom
        if orelse_leaves and not then_leaves and then:
            then, orelse, test = orelse, then, self.expressions.negated
            then_leaves = True
        if not then:
            then, orelse, test = orelse, [], self.expressions.negated
        elif then_leaves:
            orelse, rest = [], orelse
        self.place(out, gast.If(test(op.test), then, orelse), op.loc)
        out.extend(rest)

    def _choice(self, op: If, then: list[Any], orelse: list[Any]) -> Any:
        """``h = a if test else b``, where a branch only hands on one value."""
        skipped, nested = self.plan.survey.skipped, self.plan.nested
        for block in blocks(op):
            if not all(inner in skipped or is_nested(inner, nested) for inner in block.ops):
                return None
        match then, orelse:
            case [gast.Assign(targets=[gast.Name(id=a)])], [gast.Assign(targets=[gast.Name(id=b)])]:
                used = [k for k, r in enumerate(op.results) if self.is_used(r)]
                place = next(k for k in used if self.plan.variables[op.results[k]] == a)
                node = self.expressions.choice(
                    op.test, op.then.yields[place], op.orelse.yields[place]
                )
                if a == b and width(node) <= _CHOICE_WIDTH:
                    return gast.Assign([self.store(op.results[place])], node, None)
        return None

    def _pops(self, loc: Loc | None, atoms: tuple[Atom, ...], out: list[Any], top: bool) -> None:
        """The updates in expressions that nobody needs are still made."""
        for atom in atoms:
            op = self.plan.nested.get(atom) if isinstance(atom, Value) else None
            if isinstance(op, Update):
                self.add(out, gast.Expr(self.expressions.atom(atom)), loc, top)
            elif op is not None:
                self._pops(loc, inputs(op), out, top)

    def _branch(
        self, op: If, block: Block, place: int | None, leave: tuple[Copies, ...]
    ) -> tuple[list[Any], bool]:
        """The statements of a branch, and whether it always ends in ``break``."""
        handed = tuple(zip(op.results, block.yields, strict=True))
        if place is None:
            return [*self._body(block), *self.copies(handed, op.loc)], False
        flag = block.yields[place]
        inner = isinstance(flag, Value) and self.plan.survey.ends_with_flag(block, flag) is not None
        if inner:
            out = self._body(block, flag=flag, leave=(handed, *leave))
        else:
            out = self._body(block)
        out += self.copies(handed, op.loc)
        if isinstance(flag, Literal):
            if flag.value is True:
                out += self._break(leave, op.loc)
            return out, flag.value is True
        if not inner:
            out.append(gast.If(self.expressions.atom(flag), self._break(leave, op.loc), []))
        return out, False

    def _break(self, leave: tuple[Copies, ...], loc: Loc | None) -> list[Any]:
        return [*(node for copies in leave for node in self.copies(copies, loc)), gast.Break()]

    # ---- loops

    def _loop_body(self, op: For | While, params: tuple[Value, ...]) -> list[Any]:
        """The body with the copies to the next iteration and the stop test."""
        yields = op.body.yields
        handed = tuple(zip(params, yields[: len(params)], strict=True))
        flag = yields[-1] if op.stops else None
        if op in self.plan.survey.breaks:
            self._find_false(op, params)
            out = self._body(op.body, flag=flag, leave=(handed,))
            out += self.copies(handed, op.loc)
            if isinstance(flag, Literal) and flag.value is True:
                out.append(gast.Break())
            return out
        out = self._body(op.body)
        if flag is not None:
            # before the copies: the flag may be what they overwrite
            out.append(gast.If(self.expressions.atom(flag), self._break((handed,), op.loc), []))
        return out + self.copies(handed, op.loc)

    def _find_false(self, op: For | While, params: tuple[Value, ...]) -> None:
        """A stop flag that is carried, and False at first, is False until the loop breaks."""
        flag = op.body.yields[-1]
        flags = self.plan.survey.flags
        for param, start, following, result in zip(
            params, op.carried, op.body.yields, op.results, strict=False
        ):
            if following is not flag or not isinstance(start, Literal) or start.value is not False:
                continue
            own = {
                param,
                result,
                *(op.test.params if isinstance(op, While) else ()),
                *op.body.params,
            }
            sharing = self.plan.variables.sharing(param)
            if flag in sharing and all(v in own or v in flags for v in sharing):
                self._false.update(v for v in sharing if v in flags)

    def _for(self, op: For, out: list[Any], top: bool) -> None:
        params = op.carried_params
        out.extend(self._opening(op, params, top))
        out.extend(self.comments.before(op.loc, top))
        targets = [self.store(t) for t in op.targets]
        iterable = self._iterable(op)
        if op in self.plan.survey.enumerated and len(op.streams) > 2:
            targets = [targets[0], gast.Tuple(targets[1:], gast.Store())]
        target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
        around = self._carry(params, op.carried)
        with self.comments.inside():
            body = self._loop_body(op, params) or [gast.Pass()]
        self._carried = around
        self.place(out, gast.For(target, iterable, body, [], None), op.loc)
        out.extend(self.copies(tuple(zip(op.results, params, strict=True)), op.loc, top))

    def _iterable(self, op: For) -> Any:
        streams = list(op.streams)
        if op in self.plan.survey.enumerated:
            return call(dotted(self.names.builtin("enumerate")), [self._lockstep(streams[1:])])
        return self._lockstep(streams)

    def _lockstep(self, streams: list[Stream]) -> Any:
        nodes = [self._stream(s) for s in streams]
        return nodes[0] if len(nodes) == 1 else call(dotted(self.names.builtin("zip")), nodes)

    def _stream(self, stream: Stream) -> Any:
        atom = self.expressions.atom
        match stream:
            case Range(start=start, stop=stop, step=step):
                bounds = [start, stop, step]
                if is_int(step, 1):
                    bounds.pop()
                    if is_int(start, 0):
                        del bounds[0]
                return call(dotted(self.names.builtin("range")), [atom(a) for a in bounds])
            case Items(sequence=sequence, backward=True):
                return call(dotted(self.names.builtin("reversed")), [atom(sequence)])
            case Items(sequence=sequence):
                return atom(sequence)

    def _while(self, op: While, out: list[Any], top: bool) -> None:
        tested, params = op.test.params, op.body.params
        out.extend(self._opening(op, tested, top))
        out.extend(self.comments.before(op.loc, top))
        around = self._carry(tested, op.carried)
        with self.comments.inside():
            tests = self._body(op.test)
            test = self.expressions.atom(op.test.yields[0])
            body = self.copies(tuple(zip(params, tested, strict=True)), op.loc)
            body += self._loop_body(op, tested)
        self._carried = around
        if tests:
            body = [
                *tests,
                gast.If(self.expressions.negated(op.test.yields[0]), [gast.Break()], []),
                *body,
            ]
            test = constant(True)
        self.place(out, gast.While(test, body or [gast.Pass()], []), op.loc)
        out.extend(self.copies(tuple(zip(op.results, tested, strict=True)), op.loc, top))

    # ---- with and try

    def _with(self, op: With, out: list[Any], top: bool) -> None:
        out.extend(self.comments.before(op.loc, top))
        manager = self.expressions.atom(op.manager)
        used = [p for p in op.body.params if self.is_used(p)]
        item = gast.withitem(manager, self.store(used[0]) if used else None)
        handed = tuple(zip(op.results, op.body.yields, strict=True))
        with self.comments.inside():
            body = [*self._body(op.body), *self.copies(handed, op.loc)]
        self.place(out, gast.With([item], body or [gast.Pass()], None), op.loc)

    def _try(self, op: Try, out: list[Any], top: bool) -> None:
        out.extend(self.comments.before(op.loc, top))
        body = self._handed_body(op, op.body)
        handlers = []
        for handler in op.handlers:
            kinds = None if handler.kinds is None else self.expressions.atom(handler.kinds)
            used = [p for p in handler.body.params if self.is_used(p)]
            target = (
                gast.Name(self.plan.variables[used[0]], gast.Store(), None, None) if used else None
            )
            handlers.append(gast.ExceptHandler(kinds, target, self._handed_body(op, handler.body)))
        final = [] if op.final is None else self._body(op.final)
        if handlers or final:
            self.place(out, gast.Try(body, handlers, [], final), op.loc)
        else:
            out.extend(body)

    def _handed_body(self, op: Try, block: Block) -> list[Any]:
        handed = tuple(zip(op.results, block.yields, strict=True))
        with self.comments.inside():
            return [*self._body(block), *self.copies(handed, op.loc)] or [gast.Pass()]


def _is_none(atom: Atom) -> bool:
    return isinstance(atom, Literal) and atom.value is None
