"""Check the size of modules and functions: no module over 400 lines, median at most 150, no function over 40 lines."""

from __future__ import annotations

import ast
import statistics
import sys
from pathlib import Path

ROOTS = ("cel", "allocator", "scheduler", "benchmarks")
MODULE_CEILING = 400
MODULE_MEDIAN = 150
FUNCTION_CEILING = 40


def long_functions(path: Path, source: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node, clean=False)
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            lines -= 0 if docstring is None else docstring.count("\n") + 1
            if lines > FUNCTION_CEILING:
                found.append(
                    f"{path}:{node.lineno}: function {node.name} has {lines} lines, at most {FUNCTION_CEILING}"
                )
    return found


def main() -> int:
    problems: list[str] = []
    sizes: list[int] = []
    for path in sorted(p for root in ROOTS for p in Path(root).rglob("*.py")):
        source = path.read_text()
        lines = source.count("\n")
        if path.name != "__init__.py":
            sizes.append(lines)
        if lines > MODULE_CEILING:
            problems.append(f"{path}: {lines} lines, at most {MODULE_CEILING}")
        problems += long_functions(path, source)
    median = statistics.median(sizes) if sizes else 0
    if median > MODULE_MEDIAN:
        problems.append(f"the median module has {median:.0f} lines, at most {MODULE_MEDIAN}")
    print("\n".join([*problems, f"{len(sizes)} modules, median {median:.0f} lines, longest {max(sizes, default=0)}"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
