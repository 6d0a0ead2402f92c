from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from commonwealth.errors import BrainError, Busy, Damaged, Offline, Refused
from commonwealth.repo.common import common_dir, git_dir
from commonwealth.repo.failures import Declined, Done, failure
from commonwealth.repo.git import Git, GitError, NoAccess, fields, redact, stop_all
from commonwealth.repo.objects import Objects

from .conftest import MakeRepository, PlainGit, write_files


def test_what_git_prints_comes_back_as_bytes(repository: Git) -> None:
    assert repository.run("cat-file", "blob", "HEAD:a.md") == b"one\n"


def test_input_reaches_git(repository: Git, git: PlainGit) -> None:
    name = repository.run("hash-object", "-w", "--stdin", input=b"two\n").decode().strip()
    assert git(Path(repository.root), "cat-file", "blob", name) == "two\n"


def test_names_with_spaces_accents_newlines_and_pathspec_magic_survive(
    make_repository: MakeRepository,
) -> None:
    names = ["a b.md", "é/ü ñ.md", "new\nline.md", ":(glob)*.md", "-dash.md", "tab\t.md"]
    git = Git(make_repository("r", dict.fromkeys(names, "x")))
    assert sorted(fields(git.run("ls-tree", "-r", "-z", "--name-only", "HEAD"))) == sorted(names)
    assert fields(git.run("ls-files", "-z", "--", ":(glob)*.md")) == [":(glob)*.md"]


def test_bytes_that_are_no_text_survive_the_way_in_and_out(repository: Git) -> None:
    raw = b"\xff\xfe.md"
    path = os.path.join(os.fsencode(repository.root), raw)
    with open(path, "wb") as file:
        file.write(b"x")
    (name,) = fields(repository.run("ls-files", "-z", "--others"))
    repository.run("add", "--", name)
    assert repository.run("ls-files", "-z", "--", name) == raw + b"\0"


def test_a_failure_names_command_place_and_reason(repository: Git) -> None:
    with pytest.raises(GitError, match=r"git cat-file failed in .*repository.*nowhere"):
        repository.run("cat-file", "blob", "nowhere")


def test_a_failure_may_be_looked_at_instead(repository: Git) -> None:
    assert repository.run("cat-file", "blob", "nowhere", check=False) == b""
    done = repository.call("rev-parse", "--verify", "--quiet", "nowhere")
    assert (done.code, done.err) == (1, "")


def test_yes_or_no_commands_answer_or_raise(repository: Git) -> None:
    assert repository.holds("merge-base", "--is-ancestor", "HEAD", "HEAD")
    assert not repository.holds("show-ref", "--verify", "--quiet", "refs/heads/nowhere")
    with pytest.raises(BrainError):
        repository.holds("merge-base", "--is-ancestor", "HEAD", "nowhere")


def test_a_ref_resolves_to_its_commit_or_to_nothing(repository: Git, git: PlainGit) -> None:
    assert repository.resolve("main") == git(Path(repository.root), "rev-parse", "main").strip()
    assert repository.resolve("nowhere") is None
    assert repository.resolve("--exec=touch") is None


def test_a_folder_without_repository_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="no git repository"):
        Git(tmp_path).run("status")


def test_a_folder_that_is_gone_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="is gone"):
        Git(tmp_path / "nowhere").run("status")


def test_without_git_there_is_a_sentence(repository: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="git was not found on PATH") as caught:
        repository.run("status")
    assert caught.value.hint is not None


def test_a_name_with_nul_is_refused(repository: Git) -> None:
    with pytest.raises(Refused, match="NUL"):
        repository.run("cat-file", "blob", "HEAD:a\0b")


def test_the_folder_is_reached_through_a_link_under_one_name(repository: Git, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(repository.root)
    assert Git(link).root == repository.root
    assert Git(link).git_dir == repository.git_dir


def test_a_repository_above_the_root_is_never_used(make_repository: MakeRepository) -> None:
    outer = make_repository("code")
    (outer / "brain").mkdir()
    with pytest.raises(Damaged, match="no git repository"):
        Git(outer / "brain").run("log", "-1")


def test_it_works_from_a_working_folder_that_was_deleted(repository: Git, tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from commonwealth.repo.git import Git\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir(os.path.join('..', 'gone'))\n"
        "print(Git(sys.argv[1]).text('rev-parse', '--abbrev-ref', 'HEAD'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, repository.root],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout == "main\n"


# Environment


def test_the_environment_of_a_git_hook_does_not_lead_us_astray(
    repository: Git, make_repository: MakeRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_repository("other", {"b.md": "b\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.bare=true'")
    assert fields(repository.run("ls-files", "-z")) == ["a.md"]


def test_only_what_reaches_the_remote_is_kept_of_gits_variables(
    repository: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "GIT_SSH_COMMAND",
        "GIT_SSH",
        "GIT_ASKPASS",
        "GIT_EXTERNAL_DIFF",
        "GIT_NAMESPACE",
        "SSH_AUTH_SOCK",
    ):
        monkeypatch.setenv(name, "set")
    quiet, interactive = repository.environment(), Git(repository.root, interactive=True).environment()
    assert quiet["GIT_SSH_COMMAND"] == quiet["GIT_SSH"] == quiet["SSH_AUTH_SOCK"] == "set"
    assert "GIT_EXTERNAL_DIFF" not in quiet
    assert "GIT_NAMESPACE" not in quiet
    assert quiet["GIT_ASKPASS"] == ""
    assert interactive["GIT_ASKPASS"] == "set"
    assert quiet["GIT_TERMINAL_PROMPT"] == interactive["GIT_TERMINAL_PROMPT"] == "0"


def test_messages_are_english_in_any_locale(repository: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    assert repository.environment()["LANGUAGE"] == "C"
    assert repository.environment()["LC_ALL"].startswith("C")


def test_replace_refs_do_not_change_what_is_read(repository: Git, git: PlainGit) -> None:
    root = Path(repository.root)
    blob = git(root, "rev-parse", "HEAD:a.md").strip()
    fake = subprocess.run(
        ["git", "-C", root, "hash-object", "-w", "--stdin"], input=b"fake\n", capture_output=True, check=True
    )
    git(root, "replace", blob, fake.stdout.decode().strip())
    assert git(root, "cat-file", "blob", "HEAD:a.md") == "fake\n"
    assert repository.run("cat-file", "blob", "HEAD:a.md") == b"one\n"


# What a repository could make run


def test_hooks_do_not_run(repository: Git, trap: Path, canary: Path) -> None:
    root = Path(repository.root)
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "pre-push",
        "post-checkout",
        "post-index-change",
    ):
        (hooks / name).symlink_to(trap)
    write_files(root, {"b.md": "b\n"})
    repository.run("add", "--", "b.md")
    repository.run("commit", "-q", "-m", "second")
    repository.run("update-ref", "refs/heads/other", "HEAD")
    assert not canary.exists()


def test_a_hooks_path_in_the_configuration_does_not_run(
    repository: Git, git: PlainGit, trap: Path, canary: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "hooks"
    folder.mkdir()
    (folder / "pre-commit").symlink_to(trap)
    git(Path(repository.root), "config", "core.hooksPath", str(folder))
    repository.run("commit", "-q", "--allow-empty", "-m", "second")
    assert not canary.exists()


def test_a_push_hook_of_the_persons_own_does_not_call_us_again(
    repository: Git, make_remote: MakeRepository, trap: Path, canary: Path
) -> None:
    hook = Path(repository.root, ".git", "hooks", "pre-push")
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(trap)
    remote = make_remote()
    repository.run("push", "-q", "--", str(remote), "HEAD:refs/heads/other")
    assert not canary.exists()


def test_a_file_system_monitor_does_not_run(repository: Git, git: PlainGit, trap: Path, canary: Path) -> None:
    git(Path(repository.root), "config", "core.fsmonitor", str(trap))
    repository.run("status", "--porcelain")
    assert not canary.exists()


def test_a_bare_repository_hidden_in_a_folder_is_not_entered(
    repository: Git, git: PlainGit, trap: Path, canary: Path
) -> None:
    hidden = Path(repository.root, "memory")
    git(Path(repository.root), "init", "-q", "--bare", str(hidden))
    git(hidden, "config", "core.fsmonitor", str(trap))
    git(hidden, "config", "core.bare", "false")
    git(hidden, "config", "core.worktree", str(hidden))
    repository.run("status", "--porcelain")
    with pytest.raises(BrainError):
        Git(hidden).run("status", "--porcelain")
    assert not canary.exists()


def test_pager_editor_and_signature_check_do_not_run(repository: Git, git: PlainGit, trap: Path, canary: Path) -> None:
    root = Path(repository.root)
    for name in ("core.pager", "core.editor", "sequence.editor", "gpg.program"):
        git(root, "config", name, str(trap))
    git(root, "config", "log.showSignature", "true")
    repository.run("commit", "-q", "--allow-empty", "--amend", "-e", "-m", "second")
    head, _, message = repository.run("cat-file", "commit", "HEAD").partition(b"\n\n")
    signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    signed = b"\n".join([head, signature, b"", message])
    name = repository.run("hash-object", "-t", "commit", "-w", "--stdin", input=signed).decode().strip()
    repository.run("log", "-1", name)
    assert not canary.exists()


def test_a_helper_transport_does_not_run(repository: Git, trap: Path, canary: Path) -> None:
    with pytest.raises(Refused, match="not allowed"):
        repository.run("fetch", "--", f"ext::{trap}")
    assert not canary.exists()


def test_a_remote_helper_on_the_path_does_not_run(
    repository: Git, trap: Path, canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (trap.parent / "git-remote-odd").symlink_to(trap)
    monkeypatch.setenv("PATH", f"{trap.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(Refused, match="not allowed"):
        repository.run("fetch", "--", "odd::address")
    assert not canary.exists()


def test_objects_that_are_not_sound_are_not_fetched(
    repository: Git, make_repository: MakeRepository, canary: Path
) -> None:
    text = f'[submodule "m"]\n\tpath = m\n\turl = "--upload-pack=touch {canary}"\n'
    hostile = make_repository("hostile", {".gitmodules": text})
    with pytest.raises(Damaged, match="not sound"):
        repository.run("fetch", "--", str(hostile), "main")
    assert not canary.exists()


def test_credentials_in_a_remote_are_refused_and_never_shown(repository: Git) -> None:
    with pytest.raises(Refused) as caught:
        repository.run("fetch", "--", "https://alice:s3cretvalue@localhost:9/x.git")
    assert "s3cretvalue" not in str(caught.value)


# Deadlines and failures


def test_a_silent_remote_ends_in_time_and_leaves_no_process(repository: Git) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        begun = time.monotonic()
        with pytest.raises(Offline, match=r"no answer from the remote in 0\.5 s"):
            repository.run("fetch", "--", f"http://127.0.0.1:{port}/x.git", timeout=0.5)
        assert time.monotonic() - begun < 30
    assert _all_gone(str(port))


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for ssh is a shell script")
def test_the_whole_group_ends_when_the_time_is_over(
    repository: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = f"6{os.getpid()}"
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\ntrap '' TERM\nsleep {marker} & wait\n", encoding="utf-8")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(Offline):
        repository.run("ls-remote", "--", "ssh://host/x", timeout=0.5)
    assert _all_gone(f"sleep\0{marker}")


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for ssh is a shell script")
def test_a_helper_that_stays_behind_does_not_hold_us(
    repository: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = tmp_path / "pid"
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\nsleep 300 >&2 </dev/null & echo $! > '{pid}'\nexit 1\n", encoding="utf-8")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    try:
        with pytest.raises(Offline, match="Could not read from remote"):
            repository.run("ls-remote", "--", "ssh://host/x", timeout=60)
    finally:
        os.kill(int(pid.read_text(encoding="utf-8")), 9)


def test_a_watchdog_can_end_every_git_that_runs(
    repository: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho > '{started}'\nsleep 300\n", encoding="utf-8")
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))

    def watch() -> None:
        started.read_text(encoding="utf-8")
        stop_all()

    watchdog = threading.Thread(target=watch)
    watchdog.start()
    with pytest.raises(BrainError):
        repository.run("ls-remote", "--", "ssh://host/x", timeout=None)
    watchdog.join()


def test_nobody_can_be_prompted(repository: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = tmp_path / "report"
    ssh = tmp_path / "ssh"
    ssh.write_text(
        f"#!/bin/sh\n(: < /dev/tty) 2>/dev/null && echo terminal > '{report}'\n"
        f"echo \"$SSH_ASKPASS_REQUIRE\" >> '{report}'\nexit 1\n",
        encoding="utf-8",
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(Offline):
        repository.run("ls-remote", "--", "ssh://host/x")
    assert report.read_text(encoding="utf-8") == "never\n"


def test_a_remote_that_is_gone_is_offline(repository: Git, tmp_path: Path) -> None:
    with pytest.raises(Offline):
        repository.run("fetch", "--", str(tmp_path / "gone.git"))


def test_a_closed_port_is_offline(repository: Git) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(Offline):
        repository.run("fetch", "--", f"http://127.0.0.1:{port}/x.git")


def test_a_lock_of_another_git_is_busy(repository: Git) -> None:
    write_files(Path(repository.root), {".git/index.lock": "", "b.md": "b\n"})
    with pytest.raises(Busy, match=r"index\.lock"):
        repository.run("add", "--", "b.md")


@pytest.mark.parametrize(
    ("verb", "said", "kind"),
    [
        ("fetch", "fatal: Authentication failed for 'https://host/x.git/'", NoAccess),
        (
            "fetch",
            "git@host: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            NoAccess,
        ),
        ("fetch", "fatal: could not read Username for 'https://host': terminal prompts disabled", NoAccess),
        (
            "push",
            "remote: Permission to acme/x.git denied to bob.\nfatal: unable to access 'https://host/': 403",
            NoAccess,
        ),
        ("fetch", "Host key verification failed.\nfatal: Could not read from remote repository.", NoAccess),
        ("fetch", "fatal: repository 'https://host/x.git/' not found", NoAccess),
        ("fetch", "fatal: unable to access 'https://host/': Could not resolve host: host", Offline),
        ("push", "fatal: the remote end hung up unexpectedly", Offline),
        ("fetch", "error: RPC failed; HTTP 503\nfatal: early EOF", Offline),
        ("push", "error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413", Declined),
        ("push", "fatal: unable to access 'https://host/': The requested URL returned error: 507", Declined),
        ("push", "remote: fatal: write error: No space left on device\nfatal: the remote end hung up", Declined),
        ("push", "error: RPC failed; HTTP 404 curl 22 The requested URL returned error: 404", NoAccess),
        ("fetch", "fatal: unable to access 'https://host/': The requested URL returned error: 410", NoAccess),
        (
            "fetch",
            "fatal: unable to access 'https://host/': SSL certificate problem: self-signed certificate",
            NoAccess,
        ),
        (
            "fetch",
            "fatal: unable to access 'https://host/': server certificate verification failed. CAfile: x",
            NoAccess,
        ),
        ("fetch", "fatal: write error: No space left on device\nfatal: unpack-objects failed", Refused),
        ("fetch", "error: unable to write file ./objects/aa/bb: Disk quota exceeded\nfatal: early EOF", Refused),
        ("clone", "fatal: cannot create directory at 'memory': No space left on device", Refused),
        ("fetch", "fatal: protocol error: bad line length character: Welc", Offline),
        ("fetch", "fatal: protocol error: bad pack header", Offline),
        ("fetch", "fatal: https://host/x.git/info/refs not valid: is this a git repository?", Offline),
        ("fetch", "fatal: expected flush after ref listing", Offline),
        ("fetch", "fatal: fsck error in packed object", Damaged),
        ("fetch", "error: inflate: data stream error (incorrect data check)\nfatal: unpack-objects failed", Damaged),
        (
            "log",
            "error: object file .git/objects/aa/bb is empty\nfatal: loose object aabb is corrupt",
            Damaged,
        ),
        ("cat-file", "fatal: could not fetch 38396acd168476 from promisor remote", Refused),
        ("log", "fatal: detected dubious ownership in repository at '/x'", Refused),
        ("show", "fatal: Authentication failed", GitError),
    ],
)
def test_what_git_says_becomes_a_kind(verb: str, said: str, kind: type[BrainError]) -> None:
    error = failure(Done((verb,), 128, b"", said), "/brain")
    assert type(error) is kind
    assert "/brain" in error.message


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "remote: Sign in\nremote: to acme first.\nfatal: unable to access 'x': returned error: 403",
            "error: 403; the remote says: Sign in to acme first.",
        ),
        ("remote: Permission to a/b denied to c.\nremote: Ask d.\nfatal: 403", "Permission to a/b denied to c. Ask d."),
        (
            "ssh: no such host\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct",
            "could not be reached: ssh: no such host (git",
        ),
    ],
)  # fmt: skip
def test_a_failure_tells_the_line_that_says_most_and_the_remotes_words(said: str, told: str) -> None:
    assert told in failure(Done(("fetch",), 128, b"", said), "/brain").message


def test_what_a_remote_says_is_cleaned(repository: Git, make_remote: MakeRepository) -> None:
    remote = make_remote()
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nprintf 'no\\033[2Jway \\342\\200\\256\\n' >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    done = repository.call("push", "--", str(remote), "HEAD:refs/heads/other")
    assert done.code == 1
    assert "noway" in done.err
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fatal: https://alice:pa55@host/x.git is no", "fatal: https://***@host/x.git is no"),
        ("https://ghp_0123456789abcdef@github.com/x", "https://***@github.com/x"),
        ("ssh://git@host/x and git@host:x stay", "ssh://git@host/x and git@host:x stay"),
        ("ssh://git:pa55@host/x", "ssh://***@host/x"),
        ("> Authorization: Basic YWxpY2U6cGE1NQ==", "> Authorization: ***"),
        ("http.extraheader=PRIVATE-TOKEN: abc", "http.extraheader=PRIVATE-TOKEN: ***"),
        ("GET /x?access_token=abc&y=1", "GET /x?access_token=***&y=1"),
        ("using bearer abcdefghijklmnop1234", "using bearer ***"),
        ("see glpat-abcdefghijkl", "see ***"),
        (
            "nothing to hide: a@b.c at https://host/@scope/x",
            "nothing to hide: a@b.c at https://host/@scope/x",
        ),
    ],
)
def test_credentials_are_taken_out_of_text(text: str, shown: str) -> None:
    assert redact(text) == shown


# Signing


def test_commits_are_written_and_shown_as_utf_8_whatever_the_person_prefers(repository: Git, git: PlainGit) -> None:
    for name in ("commitEncoding", "logOutputEncoding"):
        git(Path(repository.root), "config", f"i18n.{name}", "ISO-8859-1")
    repository.run("commit", "-q", "--allow-empty", "-m", "zweite Änderung")
    assert "zweite Änderung".encode() in repository.run("cat-file", "commit", "HEAD")
    assert b"encoding" not in repository.run("cat-file", "commit", "HEAD")
    assert repository.text("log", "-1", "--format=%s") == "zweite Änderung"


def test_commits_are_signed_only_where_the_persons_configuration_asks(repository: Git, git: PlainGit) -> None:
    assert repository.signing() == ()
    git(Path(repository.root), "config", "commit.gpgSign", "true")
    assert repository.signing() == ("-S",)


# Many objects


def test_objects_are_read_through_one_process(repository: Git) -> None:
    with Objects(repository) as objects:
        assert objects.read("HEAD:a.md") == b"one\n"
        assert objects.read("HEAD:nowhere\nat all.md") is None
        assert objects.read("HEAD:a.md") == b"one\n"
        assert objects.read("0" * 40) is None
        assert objects.info("HEAD:a.md") == ("5626abf0f72e58d7a153368ba57db4c673c0e171", "blob", 4)


def test_an_object_larger_than_the_limit_is_refused_and_reading_goes_on(repository: Git) -> None:
    with Objects(repository) as objects:
        with pytest.raises(Refused, match="larger than 3 bytes"):
            objects.read("HEAD:a.md", limit=3)
        assert objects.read("HEAD:a.md", limit=4) == b"one\n"


def test_a_large_object_and_many_small_ones_do_not_block(repository: Git) -> None:
    large = b"x" * (1 << 20)
    name = repository.run("hash-object", "-w", "--stdin", input=large).decode().strip()
    with Objects(repository) as objects:
        assert objects.read(name) == large
        assert {objects.read("HEAD:a.md") for _ in range(500)} == {b"one\n"}


def test_reading_objects_where_there_is_no_repository_is_damaged(tmp_path: Path) -> None:
    with Objects(Git(tmp_path)) as objects, pytest.raises(Damaged):
        objects.read("HEAD:a.md")


# Where the git folder is


def test_the_git_folder_of_worktrees_is_found_without_git(
    repository: Git, git: PlainGit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(Path(repository.root), "worktree", "add", "-q", str(tmp_path / "tree"))
    monkeypatch.setenv("PATH", "")
    tree = Git(tmp_path / "tree")
    assert tree.git_dir == os.path.join(repository.root, ".git", "worktrees", "tree")
    assert tree.common_dir == os.path.join(repository.root, ".git")
    assert common_dir(repository.git_dir) == repository.git_dir


def test_git_works_in_a_worktree(repository: Git, git: PlainGit, tmp_path: Path) -> None:
    git(Path(repository.root), "worktree", "add", "-q", str(tmp_path / "tree"))
    assert Git(tmp_path / "tree").text("rev-parse", "--abbrev-ref", "HEAD") == "tree"


def test_an_empty_git_folder_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(Damaged, match="not the root of a git repository"):
        git_dir(tmp_path)


def _all_gone(word: str) -> bool:
    """Whether no process that names `word` is left: the kernel may take a moment to end what was killed."""
    deadline = time.monotonic() + 30
    while _processes_that_name(word):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def _processes_that_name(word: str) -> list[str]:
    """Command lines of running processes that contain `word`; none can be seen where there is no /proc."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if word in line and int(entry.parent.name) != os.getpid():
            found.append(line)
    return found
