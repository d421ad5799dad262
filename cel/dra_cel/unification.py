"""Which types fit together: assignability with type parameters, as CEL's checker defines it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from dra_cel.types import BOOL, DYN, NULL, SMALL, Kind, Type, compound, parameter

_NULLABLE = frozenset({Kind.OPAQUE, Kind.STRUCT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP})
_PARAMETRIZED = frozenset({Kind.OPAQUE, Kind.LIST, Kind.MAP})


class Unifier:
    """Keeps what type parameters stand for while one expression is checked.

    What it notes of large types goes by identity, so it keeps the types too. Which ones fit holds until one more
    parameter stands for something.
    """

    def __init__(self) -> None:
        self._bindings: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []
        self._fits: dict[tuple[int, int], tuple[Type, Type]] = {}
        self._stale = False
        self._general: dict[tuple[int, int], tuple[Type, Type, Type]] = {}
        self._fresh = 0

    def fresh(self) -> Type:
        """Return a type parameter that nothing else uses."""
        self._fresh += 1
        return parameter(f"_var{self._fresh}")

    def assignable(self, source: Type, target: Type) -> bool:
        """Return whether source can be used as target; binds parameters if so."""
        if source is target:
            return True
        mark = self._begin()
        if self._assign(source, target):
            return True
        self._undo(mark)
        return False

    def join(self, left: Type, right: Type, condition: Type = BOOL) -> Type | None:
        """Return what `T` stands for in `f(bool, T, T)`, or None where the types do not fit.

        The general way binds a fresh parameter to the left one and assigns the right one to it; this leads to the
        same type and to the same bindings, without the parameter.
        """
        mark = self._begin()
        if left.is_open or right.is_open or condition.is_open:
            self._fresh += 1  # error texts show the numbers of parameters that stand for nothing
        if condition is BOOL or self._assign(condition, BOOL):
            if left is right or left == right:
                return left
            if self._assign(right, left):
                return most_general(right, left)
        self._undo(mark)
        return None

    def union(self, left: Type, right: Type) -> Type | None:
        """Return the less specific of two types, the left one being used as the right one; None: they do not fit."""
        if not self.assignable(left, right):
            return None
        if left.size <= SMALL:
            return most_general(left, right)
        key = (id(left), id(right))
        known = self._general.get(key)
        if known is None:
            known = self._general[key] = (most_general(left, right), left, right)
        return known[0]

    def all_assignable(self, sources: Sequence[Type], targets: Sequence[Type]) -> bool:
        """Return whether each source can be used as its target; binds nothing unless all can."""
        mark = self._begin()
        for source, target in zip(sources, targets, strict=True):
            if not self._assign(source, target):
                self._undo(mark)
                return False
        return True

    def _begin(self) -> int:
        if self._stale:
            self._fits.clear()
            self._stale = False
        return len(self._trail)

    def _undo(self, mark: int) -> None:
        """Take back the bindings that were made since the trail had a length."""
        while len(self._trail) > mark:
            name, previous = self._trail.pop()
            if previous is None:
                del self._bindings[name]
            else:
                self._bindings[name] = previous

    def substitute(self, type_: Type) -> Type:
        """Replace bound parameters."""
        return self._substitute(type_, {}) if type_.is_open else type_

    def _substitute(self, type_: Type, known: dict[int, Type]) -> Type:
        if not type_.is_open:
            return type_
        if type_.kind is Kind.PARAM:
            bound = self._bindings.get(type_.name)
            return type_ if bound is None else self._substitute(bound, known)
        result = known.get(id(type_))
        if result is None:
            parts = type_.params
            if len(parts) == 1:  # most types
                part = self._substitute(parts[0], known)
                return type_ if part is parts[0] else compound(type_.kind, type_.name, (part,))
            params = tuple([self._substitute(part, known) for part in parts])
            same = all(map(is_, params, parts))
            result = known[id(type_)] = type_ if same else compound(type_.kind, type_.name, params)
        return result

    def closed(self, type_: Type, known: dict[int, Type]) -> Type:
        """Replace all parameters, those that stand for nothing by dyn.

        Args:
            type_: the type.
            known: results by identity of the types, which must stay alive; types of nested literals share parts.

        """
        if not type_.is_open:
            return type_
        result = known.get(id(type_))
        if result is None:
            if type_.kind is Kind.PARAM:
                bound = self._bindings.get(type_.name)
                result = DYN if bound is None else self.closed(bound, known)
            else:
                parts = type_.params
                alone = len(parts) == 1  # most types
                params = (
                    (self.closed(parts[0], known),) if alone else tuple([self.closed(part, known) for part in parts])
                )
                result = compound(type_.kind, type_.name, params)
            known[id(type_)] = result
        return result

    def instantiate(self, types: Sequence[Type]) -> list[Type]:
        """Replace the parameters of a signature by fresh ones."""
        fresh: dict[str | int, Type] = {}
        return [self._rename(type_, fresh) for type_ in types]

    def _rename(self, type_: Type, fresh: dict[str | int, Type]) -> Type:
        """Return the type with fresh parameters: parameters by name, other types of the signature by identity."""
        if not type_.is_open:
            return type_
        is_parameter = type_.kind is Kind.PARAM
        key = type_.name if is_parameter else id(type_)
        renamed = fresh.get(key)
        if renamed is None:
            renamed = fresh[key] = (
                self.fresh()
                if is_parameter
                else Type(type_.kind, type_.name, tuple([self._rename(part, fresh) for part in type_.params]))
            )
        return renamed

    def _bind(self, name: str, type_: Type) -> None:
        self._stale = True
        self._trail.append((name, self._bindings.get(name)))
        self._bindings[name] = type_

    def _assign(self, source: Type, target: Type) -> bool:
        if source is target:
            return True
        if target.kind is Kind.PARAM:
            valid, bound = self._stands_for(source, target)
            if valid or bound:
                return valid
        if source.kind is Kind.PARAM:
            return self._stands_for(target, source)[0]
        if source.is_dyn or target.is_dyn:
            return True
        if source.kind is Kind.NULL or target.kind is Kind.NULL:
            return _accepts_null(target if source.kind is Kind.NULL else source)
        return self._assign_parts(source, target)

    def _assign_parts(self, source: Type, target: Type) -> bool:
        if source.kind is Kind.TYPE:
            return target.kind is Kind.TYPE
        if source.kind is not target.kind or source.name != target.name:
            return False
        if source.kind not in _PARAMETRIZED:
            return True
        if len(source.params) != len(target.params):
            return False
        if source.size <= SMALL:
            return all(map(self._assign, source.params, target.params))
        pair = (id(source), id(target))
        if pair in self._fits:  # types of nested literals share parts
            return True
        if not all(map(self._assign, source.params, target.params)):
            return False
        self._fits[pair] = (source, target)
        return True

    def _stands_for(self, type_: Type, param: Type) -> tuple[bool, bool]:
        """Return whether the parameter can stand for the type, and whether it was bound before."""
        if type_.kind is Kind.PARAM and type_.name == param.name:
            return True, True
        bound = self._bindings.get(param.name)
        if bound is None:
            if self._occurs(param.name, type_):
                return False, False
            self._bind(param.name, type_)
            return True, False
        if bound == type_:
            return True, True
        if not self._assign(type_, bound):
            return False, True
        general = most_general(type_, bound)
        if general is not bound and not self._occurs(param.name, general):
            self._bind(param.name, general)
        return True, True

    def _occurs(self, name: str, within: Type) -> bool:
        if not within.is_open:
            return False
        if within.kind is Kind.PARAM and within.name not in self._bindings:
            return within.name == name
        pending = [within]
        seen: set[int] = set()  # types of nested literals share parts
        while pending:
            type_ = pending.pop()
            if not type_.is_open or id(type_) in seen:
                continue
            seen.add(id(type_))
            if type_.kind is not Kind.PARAM:
                pending.extend(type_.params)
            elif type_.name == name:
                return True
            elif (bound := self._bindings.get(type_.name)) is not None:
                pending.append(bound)
        return False


def most_general(left: Type, right: Type) -> Type:
    """Return the less specific one of two types that fit together."""
    return left if left is right or _as_general(left, right) else right


def _as_general(left: Type, right: Type) -> bool:
    if left.size > SMALL or right.size > SMALL:
        return _as_general_parts(left, right)
    if left is right or left.is_dyn or left.kind is Kind.PARAM:
        return True
    if right.is_dyn or left.kind is not right.kind:
        return False
    if left.kind not in _PARAMETRIZED:
        return left.kind is Kind.TYPE or left == right
    same = left.name == right.name and len(left.params) == len(right.params)
    return same and all(map(_as_general, left.params, right.params))


def _as_general_parts(left: Type, right: Type) -> bool:
    """Compare large types: those of nested literals share parts, so each pair is looked at once."""
    pending = [(left, right)]
    seen: set[tuple[int, int]] = set()
    while pending:
        mine, other = pending.pop()
        if mine is other or mine.is_dyn or mine.kind is Kind.PARAM or (id(mine), id(other)) in seen:
            continue
        if other.is_dyn or other.kind is Kind.PARAM or mine.kind is not other.kind:
            return False
        if mine.kind is Kind.TYPE:
            continue
        if mine.kind not in _PARAMETRIZED:
            if mine != other:
                return False
            continue
        if mine.name != other.name or len(mine.params) != len(other.params):
            return False
        seen.add((id(mine), id(other)))
        pending.extend(zip(mine.params, other.params, strict=True))
    return True


def _accepts_null(type_: Type) -> bool:
    return type_.kind in _NULLABLE or type_.nullable or type_ == NULL
