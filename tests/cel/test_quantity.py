import pytest
from hypothesis import given
from hypothesis import strategies as st

from dra_cel import Format, Quantity, QuantityError


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("80Gi", "80Gi"),
        ("81920Mi", "80Gi"),
        ("1.5Gi", "1536Mi"),
        ("1e3", "1e3"),
        ("12e6", "12e6"),
        ("0.5", "500m"),
        ("100m", "100m"),
        ("1000m", "1"),
        ("1500", "1500"),
        ("2000", "2k"),
        ("-5Ki", "-5Ki"),
        ("512Ki", "512Ki"),
        ("0.5Gi", "512Mi"),
        ("0.0001Ki", "102400u"),
        ("0", "0"),
        ("0Gi", "0"),
        ("+7", "7"),
        ("1E", "1E"),
        ("1e21", "1e21"),
        ("9Ei", "9223372036854775807"),
        ("123456789012345678901", "123456789012345678901"),
    ],
)
def test_prints_the_canonical_form(text: str, canonical: str) -> None:
    assert str(Quantity.parse(text)) == canonical


def test_equality_order_and_hash_go_by_value_not_by_text() -> None:
    assert Quantity.parse("80Gi") == Quantity.parse("81920Mi")
    assert hash(Quantity.parse("1e3")) == hash(Quantity.parse("1k"))
    assert Quantity.parse("40Gi") < Quantity.parse("80G") <= Quantity.parse("80Gi")
    assert Quantity.parse("1") != 1


def test_rounds_fractions_of_a_nano_unit_away_from_zero() -> None:
    assert Quantity.parse("0.0000000001").nanos == 1
    assert Quantity.parse("-0.0000000001").nanos == -1
    assert Quantity.parse("1e-4000").nanos == 1


def test_caps_binary_quantities_at_the_largest_int64() -> None:
    assert Quantity.parse("9999999999Gi").value() == 2**63 - 1
    assert Quantity.parse("9223372036854775808").value() == 2**63


def test_value_and_milli_value_round_up() -> None:
    assert Quantity.parse("1.1").value() == 2
    assert Quantity.parse("-1.1").value() == -2
    assert Quantity.parse("0.0001").milli_value() == 1


def test_as_int64_looks_at_the_way_the_value_is_held() -> None:
    assert Quantity.parse("80Gi").as_int64() == 80 << 30
    assert Quantity.parse("1.0").as_int64() is None
    assert Quantity.parse("9223372036854775808").as_int64() is None
    assert Quantity.parse("1e30").as_int64() is None


@pytest.mark.parametrize(
    "text", ["", "abc", "1Q", "1ki", "100MiB", "1 Gi", "1e", "1e+", "--1", "1.2.3", "0x1", "١", "1\n", ".Pi", "-.Ei"]
)
def test_refuses_what_is_no_quantity_and_names_it(text: str) -> None:
    with pytest.raises(QuantityError, match="quantity"):
        Quantity.parse(text)


def test_refuses_absurd_exponents() -> None:
    with pytest.raises(QuantityError, match="not supported"):
        Quantity.parse("1e99999999999")


def test_parses_ten_thousand_digits() -> None:
    assert Quantity.parse("1" * 10_000).value() % 10**9 == 111111111
    assert Quantity.parse("0." + "3" * 10_000).nanos == 333333334
    assert Quantity.parse("1e" + "0" * 10_000 + "3") == Quantity.parse("1k")
    assert str(Quantity.parse("1" * 10_000)) == "1" * 10_000
    assert Quantity.parse(str(Quantity.parse("1" + "0" * 5_000))) == Quantity.parse("1" + "0" * 5_000)
    assert "1" * 10_000 in repr(Quantity.parse("1" * 10_000))
    assert str(Quantity.parse("-7" + "0" * 8_000 + "1k")) == "-7" + "0" * 8_000 + "1k"


def test_refuses_long_texts_in_linear_time() -> None:
    with pytest.raises(QuantityError, match="must be a number"):
        Quantity.parse("3" * 300_000 + "+17K")  # minutes, if each place for the suffix were tried


@given(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
def test_addition_and_subtraction_are_exact(left: int, right: int) -> None:
    a, b = Quantity.from_int(left), Quantity.from_int(right)
    assert a.add(b).value() == left + right
    assert a.sub(b).value() == left - right


@given(st.integers(-(10**17), 10**17), st.sampled_from(["", "n", "u", "m", "k", "M", "Ki", "Mi", "e3", "e-3"]))
def test_the_canonical_form_parses_to_the_same_value(number: int, suffix: str) -> None:
    quantity = Quantity.parse(f"{number}{suffix}")
    assert Quantity.parse(str(quantity)) == quantity


def test_zero_takes_the_format_of_what_is_added() -> None:
    assert Quantity.parse("0").add(Quantity.parse("1Gi")).format is Format.BINARY_SI
