import json
import math

from hypothesis import given
from hypothesis import strategies as st

from pathtrace.render.figures import finite

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
NESTED = st.recursive(
    SIMPLE, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(NESTED)
def test_everything_can_be_written_as_json(value: object) -> None:
    json.dumps(finite(value), allow_nan=False)  # type: ignore[arg-type]


def test_figures_that_are_finite_stay_as_they_are() -> None:
    assert finite({"a": [1.5, math.nan, {"b": -math.inf}], "c": 0.0}) == {
        "a": [1.5, None, {"b": None}],
        "c": 0.0,
    }
