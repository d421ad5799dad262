"""CEL over devices: parse, check, evaluate one device or a column of them."""
