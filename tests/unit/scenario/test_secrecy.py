"""Secrets are known, kept out of the stored text, and refused where everybody could see them."""

from __future__ import annotations

from pathtrace.model.scenario import InferenceSpec, Scenario
from tests.unit.scenario.example import FLOWS, PLACES, faults_of, read, text_of

SERVER = 'url: "http://localhost:8080"'


def with_model(keys: str, environ: dict[str, str] | None = None) -> Scenario:
    return read(text_of(places=PLACES.replace(SERVER, keys), flows=FLOWS), environ)


def test_a_variable_named_like_a_secret_is_one_and_stays_unexpanded_in_the_text() -> None:
    scenario = with_model('url: "http://localhost:1/${MY_TOKEN}"', {"MY_TOKEN": "t0ken"})
    assert scenario.secrets == ("t0ken",)
    assert "t0ken" not in scenario.text
    assert "${MY_TOKEN}" in scenario.text


def test_a_variable_within_a_urls_password_is_a_secret_whatever_its_name() -> None:
    scenario = with_model('url: "http://me:${WORD}@localhost:1"', {"WORD": "p%40ss"})
    assert scenario.secrets == ("p%40ss", "p@ss")
    assert "me:${WORD}@localhost" in scenario.text


def test_a_literal_password_works_and_is_hidden_in_the_text() -> None:
    scenario = with_model('url: "http://me:hunter2@localhost:1"')
    assert scenario.secrets == ("hunter2",)
    assert 'url: "http://me:***@localhost:1"' in scenario.text
    assert isinstance(scenario.place("model").spec, InferenceSpec)
    assert "hunter2" in repr(scenario.place("model").spec)


def test_a_password_is_hidden_in_comments_and_behind_yaml_escapes() -> None:
    comment = "# was http://me:hunter3@localhost\n"
    scenario = with_model('url: "http://me\\x3ahunter2@localhost:1"')
    assert "hunter" not in scenario.text
    assert "hunter" not in read(text_of(comment)).text


def test_an_api_key_leaves_the_options_and_the_text() -> None:
    scenario = with_model(SERVER + ", options: {temperature: 0, api_key: sk-1}")
    spec = scenario.place("model").spec
    assert isinstance(spec, InferenceSpec)
    assert (spec.options, spec.api_key, scenario.secrets) == ((("temperature", 0),), "sk-1", ("sk-1",))
    assert "api_key: ***" in scenario.text


def test_an_api_key_from_the_environment_is_text_even_if_it_looks_like_a_number() -> None:
    model = (
        "  model:\n    kind: inference\n    url: http://localhost:8080\n    options:\n      api_key: ${K}\n"
    )
    places = "".join(line for line in PLACES.splitlines(keepends=True) if "model:" not in line) + model
    scenario = read(text_of(places=places), {"K": "007"})
    spec = scenario.place("model").spec
    assert isinstance(spec, InferenceSpec)
    assert (spec.api_key, scenario.secrets) == ("007", ("007",))
    assert "api_key: ${K}" in scenario.text


def test_the_default_of_a_secret_variable_is_a_secret() -> None:
    scenario = with_model(SERVER + ', options: {api_key: "${API_KEY:-sk-2}"}')
    assert scenario.secrets == ("sk-2",)
    assert "sk-2" not in scenario.text


def test_a_secret_among_a_commands_arguments_is_refused() -> None:
    places = PLACES.replace("run: chunk", 'command: [tool, "${DB_PASS}"]')
    assert faults_of(text_of(places=places), {"DB_PASS": "hunter2"}) == [
        (
            "lab.yaml:5:44: DB_PASS is a secret, and a command's arguments can be seen by everybody",
            "let the command read it from the environment, which it inherits",
        )
    ]


def test_other_variables_are_no_secrets() -> None:
    scenario = with_model('url: "http://${SERVER}:1"', {"SERVER": "localhost"})
    assert scenario.secrets == ()
