"""Quantities, for those who need no other part of the selector package."""

from dra_cel.quantity import Quantity, QuantityError

__all__ = ["Quantity", "QuantityError"]
