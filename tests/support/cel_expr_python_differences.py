"""Where cel-expr-python 0.1.3 differs from us: expression, our letter, its letter, why.

Letters: T, F, E (run-time error), C (does not compile). `$A` stands for the attributes of the device's driver.
"""

from __future__ import annotations

DIFFERENCES = (
    ("device.foo == 1", "C", "E", "it knows no fields of a device"),
    ("[1, 'a'].size() == 2", "C", "T", "Kubernetes wants literals with elements of one type"),
    ("int('12x') == 12", "C", "E", "Kubernetes converts constants when it compiles"),
    ("'a'.matches('(')", "C", "E", "Kubernetes compiles constant patterns with the expression"),
    ("$A.?ecc.orValue(false)", "T", "C", "optional values are an extension that is off"),
    ("cel.bind(m, $A.model, m == 'A100')", "T", "C", "cel.bind is an extension that is off"),
    ("$A.all(k, v, k != 'model' || v == 'A100')", "T", "C", "it has no macros with two variables"),
    ("$A.model.lowerAscii() == 'a100'", "T", "C", "the string extensions are off"),
    ("device.attributes['nosuch.example.com'].size() == 0", "T", "E", "an unknown domain is no empty map"),
    ("(" * 40 + "true" + ")" * 40, "T", "C", "it stops at 32 levels"),
)
