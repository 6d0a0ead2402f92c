"""Remotes as they are: each trouble ends in time, is told in its own words, and costs nothing but a debt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commonwealth.errors import BrainError, Damaged, Offline, Refused
from commonwealth.repo.clone import join
from commonwealth.repo.failures import Declined, NoAccess
from commonwealth.repo.git import Git

from .brains import plain
from .clones import Person, colleague_publishes
from .servers import (
    ASKS_FETCH,
    ASKS_PUSH,
    FETCHES,
    LISTS,
    PUSHES,
    Site,
    Ssh,
    Trouble,
    black_hole,
    closed_port,
    cuts,
    cuts_after_the_work,
    full_port,
    garbles,
    hangs,
    has_moved,
    http_site,
    keeps_alive,
    says,
    self_signed,
    shows_a_page,
    stalls,
    trickles,
)

SHORT = 1.0
"""Seconds for a remote that is known to hang."""

_ALLOWED = "does not let this account in"
_REACHED = "could not be reached"
_LATE = "got no answer from the remote"
_FOREIGN = "does not speak git's language"
_ROOM = "has no room"


def owes(person: Person, path: str, state: str, words: str, *, seconds: float = 20) -> str:
    """A sync amid trouble: it ends so, the note is safe here, and what is owed is remembered. The reason."""
    said = person.sync(seconds=seconds)
    assert said.state == state, said
    assert words in (said.reason or "")
    assert person.holds(path)
    assert person.debt is not None
    assert not said.pushed
    assert said.next
    return said.reason or ""


def pays(person: Person, path: str) -> None:
    """A sync after the trouble: everything is shared and nothing is owed."""
    said = person.sync()
    assert said.state in ("published", "unchanged"), said
    assert person.shared(path)
    assert person.debt is None


def test_the_command_exits_as_its_receipt_says_and_leaves_nothing_running(person: Person, site: Site) -> None:
    path = person.write()
    words = ("sync", "--brain", str(person.clone), "--json", "--timeout")
    for kind, trouble, code, state in (
        (PUSHES, hangs, 5, "deferred"),
        (PUSHES, says(413), 0, "committed"),
        (ASKS_FETCH, says(401, "", WWW_Authenticate='Basic realm="x"'), 5, "deferred"),
    ):
        site.trouble = {kind: trouble}
        said = person.brain(*words, "1.5" if trouble is hangs else "20")
        assert (said.code, said.receipt["state"]) == (code, state)
        assert said.err == ""
    site.trouble.clear()
    pays(person, path)


# https and http


@pytest.mark.parametrize(
    ("kind", "trouble", "state", "words"),
    [
        pytest.param(ASKS_FETCH, says(401, "", WWW_Authenticate='Basic realm="x"'), "deferred", _ALLOWED, id="401"),
        pytest.param(ASKS_FETCH, says(403, "Sign in to\nacme first."), "deferred", "Sign in to acme first.", id="403"),
        pytest.param(ASKS_FETCH, says(404), "deferred", _ALLOWED, id="404"),
        pytest.param(ASKS_FETCH, says(429, Retry_After="60"), "deferred", _REACHED, id="429"),
        pytest.param(ASKS_FETCH, says(503, "Back at 10."), "deferred", "Back at 10.", id="503"),
        pytest.param(ASKS_FETCH, cuts_after_the_work, "deferred", _REACHED, id="no answer"),
        pytest.param(ASKS_FETCH, shows_a_page, "deferred", _FOREIGN, id="login page"),
        pytest.param(LISTS, garbles, "deferred", _FOREIGN, id="garbled"),
        pytest.param(FETCHES, cuts, "deferred", _REACHED, id="cut amid the pack"),
        pytest.param(FETCHES, says(500), "deferred", _REACHED, id="500 amid the fetch"),
        pytest.param(ASKS_PUSH, says(403, "This is\nread-only."), "committed", "This is read-only.", id="archived"),
        pytest.param(PUSHES, says(413), "committed", _ROOM, id="413"),
        pytest.param(PUSHES, says(507), "committed", _ROOM, id="507"),
        pytest.param(PUSHES, says(500), "deferred", _REACHED, id="500 amid the push"),
        pytest.param(PUSHES, cuts_after_the_work, "deferred", _REACHED, id="the push's answer is lost"),
    ],
)  # fmt: skip
def test_what_a_server_says_is_told_and_the_work_goes_out_later(
    person: Person, site: Site, kind: str, trouble: Trouble, state: str, words: str
) -> None:
    if kind == FETCHES:
        colleague_publishes(person.bare)
    path = person.write()
    site.trouble[kind] = trouble
    owes(person, path, state, words)
    assert kind in site.requests
    site.trouble.clear()
    pays(person, path)


@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        pytest.param(ASKS_FETCH, hangs, id="before the answer"),
        pytest.param(FETCHES, stalls, id="amid the pack"),
        pytest.param(FETCHES, keeps_alive, id="with signs of life"),
        pytest.param(PUSHES, hangs, id="amid the push"),
    ],
)
def test_a_server_that_hangs_costs_its_time_and_leaves_no_process(
    person: Person, site: Site, kind: str, trouble: Trouble
) -> None:
    if kind == FETCHES:
        colleague_publishes(person.bare)
    path = person.write()
    site.trouble[kind] = trouble
    # To come as far as a push takes a fetch and the work here, on a machine that may be busy.
    owes(person, path, "deferred", _LATE, seconds=5 if kind == PUSHES else SHORT)
    site.trouble.clear()
    pays(person, path)


def test_a_slow_server_is_waited_for(person: Person, site: Site) -> None:
    colleague_publishes(person.bare, 2)
    site.trouble = dict.fromkeys((ASKS_FETCH, LISTS, FETCHES, ASKS_PUSH, PUSHES), trickles)
    pays(person, person.write())
    assert (person.clone / "memory/2026-07/theirs-1.md").exists()


def test_a_pack_that_arrives_damaged_changes_nothing(person: Person, site: Site) -> None:
    colleague_publishes(person.bare, 4)
    before = plain(person.clone, "rev-parse", "HEAD")
    site.trouble[FETCHES] = garbles
    said = person.sync()
    assert said.state in ("deferred", "refused"), said
    assert plain(person.clone, "rev-parse", "HEAD") == before
    plain(person.clone, "fsck", "--full", "--strict")
    site.trouble.clear()
    assert person.sync().state == "published"


@contextmanager
def _tls(person: Person, folder: Path) -> Iterator[tuple[Site, Path]]:
    made = self_signed(folder)
    if made is None:
        pytest.skip("there is no openssl command to make a certificate with")
    with http_site(person.bare.parent, made) as site:
        person.goes_to(f"{site.url}/brain.git")
        yield site, made[0]


def test_a_certificate_is_trusted_where_the_person_says_so_and_its_redirect_followed(
    person: Person, tmp_path: Path
) -> None:
    with _tls(person, tmp_path) as (site, certificate):
        path = person.write()
        owes(person, path, "deferred", "certificate is not trusted")
        assert site.requests == []
        person.env["GIT_SSL_CAINFO"] = str(certificate)
        pays(person, path)
        site.trouble = dict.fromkeys((ASKS_FETCH, ASKS_PUSH), has_moved)
        person.goes_to(f"{site.url}/old.git")
        pays(person, person.write())


def test_a_redirect_to_an_unencrypted_server_is_not_followed(person: Person, tmp_path: Path) -> None:
    with _tls(person, tmp_path) as (site, certificate), http_site(person.bare.parent) as plain_site:
        person.env["GIT_SSL_CAINFO"] = str(certificate)
        there = f"{plain_site.url}/brain.git/info/refs?service=git-upload-pack"
        site.trouble[ASKS_FETCH] = says(302, Location=there)
        path = person.write()
        owes(person, path, "deferred", _REACHED)
        assert plain_site.requests == []


# ssh


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        ("unknown-host", NoAccess, "host key is not known here"),
        ("changed-host", NoAccess, "another one than before"),
        ("denied", NoAccess, "Permission denied (publickey)"),
        ("no-repository", NoAccess, "Repository not found"),
        ("no-host", Offline, "Could not resolve hostname git.example.com"),
        ("refused", Offline, "Connection refused"),
        ("closed", Offline, "Connection closed by remote host"),
        ("not-git", Offline, "does not appear to be a git repository"),
        ("greets", Offline, "does not speak git's language"),
        ("missing", Offline, "not found"),
    ],
)
def test_what_ssh_says_becomes_a_kind(
    person: Person, ssh: Ssh, monkeypatch: pytest.MonkeyPatch, trouble: str, kind: type[BrainError], words: str
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "no-such-ssh -v" if trouble == "missing" else ssh.command)
    ssh.make(trouble)
    with pytest.raises(BrainError) as caught:
        Git(person.clone).run("ls-remote", "origin")
    assert type(caught.value) is kind
    assert words in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    ("trouble", "state", "words"),
    [
        ("asks", "deferred", "Permission denied (publickey,password)"),
        ("cuts", "deferred", _REACHED),
        ("full", "committed", "File too large"),
    ],
)
def test_trouble_by_ssh_is_told_asks_nobody_and_the_work_goes_out_later(
    person: Person, ssh: Ssh, trouble: str, state: str, words: str
) -> None:
    if trouble == "cuts":
        colleague_publishes(person.bare, 6)
    path = person.write()
    ssh.make(trouble)
    person.env |= {"SSH_ASKPASS": "/bin/false", "DISPLAY": ":0"}
    owes(person, path, state, words)
    assert ssh.asked == ""
    ssh.make()
    pays(person, path)


@pytest.mark.parametrize("trouble", ["stubborn", "stalls"])
def test_ssh_that_hangs_costs_its_time_and_leaves_no_process(person: Person, ssh: Ssh, trouble: str) -> None:
    colleague_publishes(person.bare, 6)
    path = person.write()
    ssh.make(trouble)
    owes(person, path, "deferred", _LATE, seconds=SHORT)
    ssh.make()
    pays(person, path)


def test_a_url_of_ssh_reaches_the_port_and_path_that_it_names(person: Person, ssh: Ssh) -> None:
    person.goes_to(f"ssh://git@git.example.com:2222{person.bare}")
    pays(person, person.write())
    assert "-p 2222 git@git.example.com" in ssh.calls


# Nobody there


@pytest.mark.parametrize("scheme", ["https", "http"])
def test_an_address_that_swallows_everything_costs_its_time(person: Person, scheme: str) -> None:
    with black_hole() if scheme == "https" else full_port() as port:
        person.goes_to(f"{scheme}://127.0.0.1:{port}/brain.git")
        path = person.write()
        owes(person, path, "deferred", _LATE, seconds=SHORT)


def test_a_name_that_does_not_exist_a_closed_port_and_a_drive_that_is_away_are_offline(person: Person) -> None:
    path = person.write()
    for url in ("https://brain.invalid/x.git", f"http://127.0.0.1:{closed_port()}/x.git", "/nowhere/x.git"):
        person.goes_to(url)
        owes(person, path, "deferred", "")
    person.goes_to(f"file://{person.bare}")
    pays(person, path)


# What a remote declines


def _hook(person: Person, text: str, name: str = "pre-receive") -> Path:
    place = person.bare / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    place.chmod(0o755)
    return place


def test_the_words_of_a_hook_are_shown_on_one_line_and_cleaned(person: Person, site: Site) -> None:
    hook = _hook(person, "printf 'Not on \\033[31mFridays\\033[0m,\\n  says \\342\\200\\256 ops\\n' >&2; exit 1")
    path = person.write()
    reason = owes(person, path, "committed", "pre-receive hook declined: Not on Fridays, says ops")
    assert "\n" not in reason
    hook.unlink()
    pays(person, path)


def test_a_remote_without_room_is_not_taken_for_a_full_disk_here(person: Person, site: Site) -> None:
    hook = _hook(person, "echo 'fatal: write error: Disk quota exceeded' >&2; exit 1")
    path = person.write()
    said = person.sync()
    assert said.state == "committed"
    assert "Disk quota exceeded" in str(said.reason)
    assert "make room there" in str(said.next)
    hook.unlink()
    pays(person, path)


def test_a_disk_that_is_full_here_is_not_taken_for_a_damaged_remote(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colleague_publishes(person.bare, 60)
    folder = tmp_path / "small-disk"
    folder.mkdir()
    path = plain(person.clone, "--exec-path").strip()
    (folder / "git").write_text(f"#!/bin/sh\ntrap '' XFSZ\nulimit -f 16\nexec '{path}/git' \"$@\"\n", encoding="utf-8")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    with pytest.raises(Refused, match=r"The disk refused a write: .*File too large") as caught:
        Git(person.clone).run("fetch", "--quiet", "origin", "main")
    assert not isinstance(caught.value, Declined)


@pytest.mark.parametrize(
    ("settings", "words", "step"),
    [
        ({"receive.maxInputSize": "10"}, "pack exceeds maximum allowed size", "make room there"),
        ({"core.bare": "false", "receive.denyCurrentBranch": "refuse"}, "currently checked out", "bare repository"),
        ({"http.receivepack": "false"}, _ALLOWED, "may use the remote"),
    ],
)
def test_what_a_remotes_own_settings_decline_has_a_next_step(
    person: Person, site: Site, settings: dict[str, str], words: str, step: str
) -> None:
    for name, value in settings.items():
        plain(person.bare, "config", name, value)
    path = person.write()
    owes(person, path, "committed", words)
    assert step in str(person.sync().next)
    plain(person.bare, "config", "core.bare", "true")
    for name in settings:
        if name != "core.bare":
            plain(person.bare, "config", "--unset", name)
    pays(person, path)


def test_a_strict_remote_and_one_whose_later_hook_fails_take_the_work(person: Person, site: Site) -> None:
    plain(person.bare, "config", "receive.fsckObjects", "true")
    _hook(person, "echo 'no mail today' >&2; exit 1", "post-receive")
    pays(person, person.write())


def test_a_remote_that_dies_amid_a_push_is_tried_again(person: Person, site: Site) -> None:
    hook = _hook(person, "kill -9 $PPID")
    path = person.write()
    owes(person, path, "deferred", "")
    hook.unlink()
    pays(person, path)


# Joining


@pytest.mark.parametrize("way", ["path", "file", "http", "ssh"])
def test_a_brain_is_joined_and_written_to_over_every_transport(
    person: Person, tmp_path: Path, site: Site, ssh: Ssh, way: str
) -> None:
    colleague_publishes(person.bare)
    url = {
        "path": str(person.bare),
        "file": f"file://{person.bare}",
        "http": f"{site.url}/brain.git",
        "ssh": f"git@git.example.com:{person.bare}",
    }[way]
    said = person.brain("join", url, str(tmp_path / "joined"), "--json")
    assert said.code == 0, said
    joined = Person(tmp_path / "joined", person.bare, dict(person.env))
    assert (joined.clone / "memory/2026-07/theirs-0.md").exists()
    pays(joined, joined.write())


@pytest.mark.parametrize(
    ("kind", "trouble", "error"),
    [
        (ASKS_FETCH, says(401, "", WWW_Authenticate='Basic realm="x"'), NoAccess),
        (ASKS_FETCH, says(404), NoAccess),
        (ASKS_FETCH, shows_a_page, BrainError),
        (FETCHES, cuts, Offline),
        (FETCHES, stalls, Offline),
        (FETCHES, garbles, (Offline, Damaged)),
    ],
)
def test_a_join_that_fails_leaves_nothing(
    person: Person, site: Site, kind: str, trouble: Trouble, error: type[BrainError], tmp_path: Path
) -> None:
    colleague_publishes(person.bare, 4)
    site.trouble[kind] = trouble
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(error):
        join(f"{site.url}/brain.git", tmp_path / "new" / "joined", timeout=SHORT if trouble is stalls else 20)
    assert sorted(tmp_path.rglob("*")) == before


def _shallow(person: Person) -> Path:
    place = person.bare.with_name("shallow.git")
    plain(person.bare, "clone", "-q", "--bare", "--depth=1", f"file://{person.bare}", str(place))
    return place


def _sha256(person: Person) -> Path:
    source, place = person.bare.with_name("source"), person.bare.with_name("sha256.git")
    plain(person.bare.parent, "init", "-q", "--object-format=sha256", "-b", "main", str(source))
    plain(person.clone, "checkout-index", "--all", f"--prefix={source}/")
    plain(source, "add", "-A")
    plain(source, "commit", "-q", "-m", "first")
    plain(source, "clone", "-q", "--bare", str(source), str(place))
    return place


@pytest.mark.parametrize("make", [_shallow, _sha256])
def test_a_shallow_remote_and_one_with_longer_hashes_are_remotes_like_others(
    person: Person, tmp_path: Path, make: object
) -> None:
    colleague_publishes(person.bare)
    place = _shallow(person) if make is _shallow else _sha256(person)
    said = person.brain("join", f"file://{place}", str(tmp_path / "joined"), "--json")
    assert said.code == 0, said
    joined = Person(tmp_path / "joined", place)
    pays(joined, joined.write())
    plain(place, "fsck", "--full")


def test_a_partial_clone_syncs_and_where_something_is_missing_the_next_step_makes_it_whole(
    person: Person, tmp_path: Path
) -> None:
    plain(person.bare, "config", "uploadpack.allowFilter", "true")
    place = tmp_path / "partial"
    plain(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{person.bare}", str(place))
    partial = Person(place, person.bare)
    colleague_publishes(person.bare, 2)
    pays(partial, partial.write())
    colleague_publishes(person.bare, 2)
    plain(place, "fetch", "-q", "origin")  # by hand, it brings commits without their notes
    path = partial.write()
    with pytest.raises(Refused, match="partial") as caught:
        partial.sync()
    assert f"git -C {place} fetch --refetch --no-filter origin" in str(caught.value.hint)
    plain(place, "fetch", "-q", "--refetch", "--no-filter", "origin")
    pays(partial, path)


# Sessions


def test_a_session_starts_without_a_word_where_the_remote_wants_a_password(person: Person, site: Site) -> None:
    site.password = "asked for"
    person.env |= {"COMMONWEALTH_BRAIN": str(person.clone), "GIT_ASKPASS": "/bin/false"}
    said = person.brain("hook", "SessionStart", "--host", "claude", stdin=f'{{"cwd": "{person.clone}"}}')
    assert said.code == 0
    assert said.err == ""
