"""Conversion between the served versions of resource.k8s.io and v1, the only form used inside.

v1 and v1beta2 are one shape. v1beta1 and v1alpha3 have a request's fields directly in it and a device's under `basic`;
v1alpha3 (Kubernetes 1.31 to 1.33) has plain capacities, and in 1.31 the parts of classic DRA, which are kept in place.
"""

from dra_api.versions.conversion import SERVED, from_v1, to_v1

__all__ = ["SERVED", "from_v1", "to_v1"]
