"""CEL over devices: parse, check, evaluate one device or a column of them."""

from dra_cel.columns import Column, ColumnKey, ColumnSource, DeviceColumns, value_key
from dra_cel.derived import DerivedAttribute, compile_derived
from dra_cel.device import AttributeValue, DeviceFields, qualify
from dra_cel.errors import CelError, CompileError, CostLimitExceeded, EvaluationError
from dra_cel.masks import Masks
from dra_cel.quantity import Format, Quantity, QuantityError
from dra_cel.selector import Selector, compile_selector
from dra_cel.semver import Semver, SemverError

__all__ = [
    "AttributeValue",
    "CelError",
    "Column",
    "ColumnKey",
    "ColumnSource",
    "CompileError",
    "CostLimitExceeded",
    "DerivedAttribute",
    "DeviceColumns",
    "DeviceFields",
    "EvaluationError",
    "Format",
    "Masks",
    "Quantity",
    "QuantityError",
    "Selector",
    "Semver",
    "SemverError",
    "compile_derived",
    "compile_selector",
    "qualify",
    "value_key",
]
