"""Random expressions of the core language, which every implementation of it has."""

from hypothesis import strategies as st

from support.cel_devices import A

INTEGER = st.recursive(
    st.one_of(st.integers(-9, 9).map(str), st.just(f"{A}.index"), st.just(f"{A}.numa"), st.just(f"{A}.lanes[1]")),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*/%"), inner),
    max_leaves=4,
)
PLAIN = st.sampled_from(['"A100"', '"A"', '""', '"é"', "device.driver", f"{A}.model"])
TEXT = st.one_of(
    PLAIN,
    st.builds("({} + {})".format, st.sampled_from(['"A"', f"{A}.model"]), st.sampled_from(['"1"', "device.driver"])),
)
TEST = st.one_of(
    st.builds("({} {} {})".format, INTEGER, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), INTEGER),
    st.builds("({} {} {})".format, TEXT, st.sampled_from(["<", ">=", "==", "!="]), TEXT),
    st.builds("{}.{}({})".format, PLAIN, st.sampled_from(["startsWith", "endsWith", "contains"]), TEXT),
    st.builds("({} in [{}, {}])".format, INTEGER, INTEGER, st.integers(0, 3)),
    st.builds("(size({}) == {})".format, TEXT, INTEGER),
    st.builds("{}.lanes.{}(x, x > {})".format, st.just(A), st.sampled_from(["all", "exists"]), INTEGER),
    st.builds("({}.lanes.map(x, x + {}) == [{}, 17])".format, st.just(A), st.integers(0, 3), INTEGER),
    st.builds("(size({}.lanes.filter(x, x > {})) == 1)".format, st.just(A), st.integers(0, 20)),
    st.sampled_from([f"has({A}.model)", f"has({A}.nosuch)", f"{A}.ecc", f"({A}.nosuch == 1)", "true", "false"]),
)
EXPRESSION = st.recursive(
    TEST,
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("(!{})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
    ),
    max_leaves=5,
)
