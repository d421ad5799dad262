"""Where cel-python differs from us: expression, our letter, its letter, why.

Letters: T, F, E (run-time error), C (does not compile). `$A` stands for the attributes of the device's driver.
"""

from __future__ import annotations

DIFFERENCES = (
    ("1 == 1.0", "C", "E", "it has no static checker"),
    ("device.foo == 1", "C", "E", "it has no static checker"),
    ("[1, 'a'].size() == 2", "C", "T", "Kubernetes wants literals with elements of one type"),
    ("dyn(1) == 1.0", "T", "E", "numbers of different types do not compare"),
    ("1 < 1.5", "T", "E", "numbers of different types are not ordered"),
    ("dyn('a') == 1", "F", "E", "values of different types do not compare"),
    ("0.0 / 0.0 == 0.0 / 0.0", "F", "T", "NaN equals itself"),
    ("string(true) == 'true'", "T", "F", "bools print as Python's"),
    ("int('12') == 12 && int('0x1') == 1", "C", "T", "hexadecimal text is a number"),
    ("has($A.nosuch.foo)", "E", "F", "has() of a missing parent is false"),
    ("'A100' in $A.model", "E", "F", "membership in a string is allowed"),
    ("$A.model.exists(x, x == 'A')", "E", "T", "strings can be iterated"),
    ("$A.ecc < $A.index", "E", "F", "bools and numbers are ordered"),
    ("device.attributes['nosuch.example.com'].size() == 0", "T", "E", "an unknown domain is no empty map"),
    ("$A.?ecc.orValue(false)", "T", "C", "it has no optional values"),
    ("cel.bind(m, $A.model, m == 'A100')", "T", "E", "it has no cel.bind"),
    ("$A.all(k, v, k != 'model' || v == 'A100')", "T", "E", "it has no macros with two variables"),
    ("('A' + '1').contains('A')", "T", "E", "the sum of two strings is Python's and has no methods"),
    ("$A.model.lowerAscii() == 'a100'", "T", "E", "it has none of the string extensions"),
)
