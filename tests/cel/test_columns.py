from dra_cel import ColumnKey, DeviceColumns, DeviceFields, Quantity, Semver, qualify, value_key


def test_unqualified_names_belong_to_the_driver() -> None:
    assert qualify("model", "gpu.example.com") == "gpu.example.com/model"
    assert qualify("ext.example.com/rack", "gpu.example.com") == "ext.example.com/rack"


def test_values_of_different_types_are_different() -> None:
    values = [
        1, True, "1", Semver.parse("1.0.0"), Semver.parse("1.0.0+a"), Quantity.parse("1"), Quantity.parse("1.0"),
        (1,), (True,), ("1",),
    ]  # fmt: skip
    assert len({value_key(value) for value in values}) == len(values)


def test_a_column_has_code_zero_where_the_field_is_absent() -> None:
    devices = [
        DeviceFields("d", {"d/a": 1}),
        DeviceFields("d", {"d/a": True}),
        DeviceFields("d", {}, {"d/m": Quantity.parse("1Gi")}, True),
        DeviceFields("e", {"d/a": 1}),
    ]
    columns = DeviceColumns(devices)
    column = columns.column(ColumnKey("attribute", "d/a"))
    assert column.codes.tolist() == [1, 2, 0, 1]
    assert column.values == [None, 1, True]
    assert columns.column(ColumnKey("driver")).codes.tolist() == [1, 1, 1, 2]
    assert columns.column(ColumnKey("capacity", "d/m")).codes.tolist() == [0, 0, 1, 0]
    assert columns.column(ColumnKey("sharing")).values[1:] == [False, True]
    assert columns.column(ColumnKey("attribute", "x/y")).codes.tolist() == [0, 0, 0, 0]
    assert columns.fields(3).driver == "e"
    assert columns.rows == 4
