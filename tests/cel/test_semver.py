import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_cel import Semver, SemverError

ASCENDING = [
    "0.9.9",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.2",
    "1.0.0-alpha.10",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.10.0",
    "535.104.5",
]


def test_orders_by_precedence() -> None:
    versions = [Semver.parse(text) for text in ASCENDING]
    assert sorted(set(versions)) == versions
    assert all(left < right for left, right in itertools.pairwise(versions))


def test_ignores_build_metadata_in_comparisons_and_keeps_it_in_the_text() -> None:
    left, right = Semver.parse("1.0.0+a"), Semver.parse("1.0.0+b.7")
    assert left == right
    assert hash(left) == hash(right)
    assert str(left) == "1.0.0+a"


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.2", "v1.2.3", "01.2.3", "1.02.3", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b", "1.2.3 ",
     "-1.2.3", "99999999999999999999.0.0", "1.2.3-99999999999999999999", "1.2.x"],
)  # fmt: skip
def test_refuses_what_is_no_version(text: str) -> None:
    with pytest.raises(SemverError, match=r"version|short"):
        Semver.parse(text)


@pytest.mark.parametrize(
    ("text", "normalized"),
    [("v1.2", "1.2.0"), ("1", "1.0.0"), ("01.02.03", "1.2.3"), ("v1.2.3-rc.1+b", "1.2.3-rc.1+b"), ("00.0.0", "0.0.0")],
)
def test_normalizes_on_request(text: str, normalized: str) -> None:
    assert str(Semver.parse(text, normalize=True)) == normalized


def test_refuses_a_short_version_with_a_pre_release() -> None:
    with pytest.raises(SemverError, match="short version"):
        Semver.parse("1.2-rc", normalize=True)


@given(st.tuples(*[st.integers(0, 2**64 - 1)] * 3))
def test_numbers_compare_as_numbers(parts: tuple[int, int, int]) -> None:
    version = Semver.parse(".".join(map(str, parts)))
    assert (version.major, version.minor, version.patch) == parts
    assert version != (parts,)
