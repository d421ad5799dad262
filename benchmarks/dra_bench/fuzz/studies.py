"""All studies by name."""

from __future__ import annotations

from collections.abc import Mapping

from dra_bench.fuzz import allocations, lint, manifests, objects, queries, scalars, selectors
from dra_bench.fuzz.study import Study

STUDIES: Mapping[str, Study] = {
    "selectors": selectors.STUDY,
    "quantities": scalars.QUANTITIES,
    "semvers": scalars.SEMVERS,
    "slices": objects.SLICES,
    "claims": objects.CLAIMS,
    "allocations": allocations.STUDY,
    "manifests": manifests.STUDY,
    "lint": lint.STUDY,
    "queries": queries.STUDY,
}
"""Name on the command line to study."""
