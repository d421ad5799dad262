from __future__ import annotations

import base64
import csv
from pathlib import Path

import pytest
import yaml

from dra_bench.controlplane.errors import ConfigurationError
from dra_bench.controlplane.kubeconfig import (
    Connection,
    User,
    kubeconfig,
    service_account,
    standard_users,
    token_file,
    write_kubeconfig,
)

CONNECTION = Connection("https://127.0.0.1:1234", b"a certificate", User("someone", "some one", token="secret"))


def test_a_kubeconfig_leads_to_one_server_as_one_user() -> None:
    config = kubeconfig(CONNECTION)
    context = config["contexts"][0]
    assert config["current-context"] == context["name"]
    assert context["context"]["cluster"] == config["clusters"][0]["name"]
    assert context["context"]["user"] == config["users"][0]["name"]
    cluster = config["clusters"][0]["cluster"]
    assert cluster["server"] == "https://127.0.0.1:1234"
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"a certificate"
    assert config["users"][0]["user"] == {"token": "secret"}


def test_a_written_kubeconfig_is_yaml_that_others_cannot_read(tmp_path: Path) -> None:
    path = write_kubeconfig(CONNECTION, tmp_path / "kubeconfig")
    assert yaml.safe_load(path.read_text()) == kubeconfig(CONNECTION)
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_token_file_has_a_line_for_each_user_with_its_groups_in_one_field() -> None:
    users = [User("a", "Ann", ("one", "two"), token="t1"), User("b", "Bob", token="t2")]
    assert list(csv.reader(token_file(users).splitlines())) == [
        ["t1", "Ann", "uid-a", "one,two"],
        ["t2", "Bob", "uid-b", ""],
    ]


def test_two_users_with_one_key_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="two with the key 'a'"):
        token_file([User("a", "Ann"), User("a", "Anton")])


def test_only_admin_and_the_controllers_may_do_everything() -> None:
    users = {user.key: user for user in standard_users()}
    powerful = {key for key, user in users.items() if "system:masters" in user.groups}
    assert powerful == {"admin", "kube-controller-manager"}
    assert users["dra-scheduler"].name == "system:serviceaccount:dra-scheduler:dra-scheduler"
    assert users["nobody"].groups == ()


def test_a_service_account_user_is_in_the_groups_of_service_accounts() -> None:
    assert service_account("k", "space", "name").groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:space",
    )


def test_tokens_differ_and_are_not_shown() -> None:
    tokens = {user.token for user in (*standard_users(), *standard_users())}
    assert len(tokens) == 2 * len(standard_users())
    assert "secret" not in repr(CONNECTION)
