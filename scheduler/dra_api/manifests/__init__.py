"""Reading manifests: files people write, with the line of everything that is wrong."""

from dra_api.manifests.files import read_paths
from dra_api.manifests.problem import Document, Manifests, Problem
from dra_api.manifests.reader import MAX_FILE, MAX_OBJECT, merge, read_text

__all__ = ["MAX_FILE", "MAX_OBJECT", "Document", "Manifests", "Problem", "merge", "read_paths", "read_text"]
