"""Real git servers for tests, on this machine only: git's own HTTP backend, and a stand-in for ssh.

Each has switches for the trouble that remotes make. A switch is thrown by the test and holds until it is changed.
"""

from __future__ import annotations

import base64
import os
import select
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ASKS_FETCH, LISTS, FETCHES = "GET git-upload-pack", "list git-upload-pack", "POST git-upload-pack"
ASKS_PUSH, PUSHES = "GET git-receive-pack", "POST git-receive-pack"
"""The kinds of request that git makes: whether it may, what branches there are, and the transfer, each way."""


class Request(BaseHTTPRequestHandler):
    """One request of git's, answered by `git http-backend` unless its kind is in trouble."""

    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, *_: object) -> None:
        """Tests read the requests, nobody reads a log."""

    def do_GET(self) -> None:
        self.serve()

    def do_POST(self) -> None:
        self.serve()

    def serve(self) -> None:
        """Read the request whole, then make trouble or answer."""
        self.close_connection = True
        path, _, query = self.path.partition("?")
        service = query.removeprefix("service=") or path.rpartition("/")[2]
        body = self.body()
        site = self.server.site
        kind = f"{'list' if b'command=ls-refs' in body else self.command} {service}"
        site.requests.append(kind)
        site.authorizations.append(self.headers.get("Authorization", ""))
        trouble = site.trouble.get(kind)
        if trouble is not None:
            trouble(self, path, query, body)
        else:
            self.serve_git(path, query, body)

    def serve_git(self, path: str, query: str, body: bytes) -> None:
        """What the server does when there is no trouble."""
        site = self.server.site
        if site.password is not None and self.headers.get("Authorization") != site.wanted():
            self.say(401, "Who are you?", {"WWW-Authenticate": 'Basic realm="brains"'})
        else:
            code, headers, data = self.backend(path, query, body)
            self.answer(code, headers, data)

    def body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def backend(self, path: str, query: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """What git's own server answers."""
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.server.site.root),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PROJECT_ROOT": str(self.server.site.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REMOTE_USER": "tester",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if line)
        return int(headers.pop("Status", "200").split()[0]), headers, data

    def say(self, code: int, text: str, headers: dict[str, str] | None = None) -> None:
        """An answer in words; git shows plain text of an error to the person."""
        self.answer(code, {"Content-Type": "text/plain", **(headers or {})}, text.encode())

    def answer(self, code: int, headers: dict[str, str], data: bytes, sent: int | None = None) -> None:
        """Send an answer, or only the first `sent` bytes of its body."""
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(data)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[:sent])
        self.wfile.flush()

    def hold(self) -> None:
        """Say nothing more until git gives up or the server is closed."""
        while not self.server.site.closing.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.05)
            if readable and not self.connection.recv(1):
                return


Trouble = Callable[[Request, str, str, bytes], None]


def says(code: int, text: str = "", **headers: str) -> Trouble:
    """An error of the server's own; `Retry_After="60"` becomes the header of that name."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request, _path, _query, _body: request.say(code, text, named)


def hangs(request: Request, _path: str, _query: str, _body: bytes) -> None:
    """No answer at all."""
    request.hold()


def stalls(request: Request, path: str, query: str, body: bytes) -> None:
    """Half of the right answer, then nothing."""
    code, headers, data = request.backend(path, query, body)
    request.answer(code, headers, data, len(data) // 2)
    request.hold()


def cuts(request: Request, path: str, query: str, body: bytes) -> None:
    """Half of the right answer, then the connection is closed."""
    code, headers, data = request.backend(path, query, body)
    request.answer(code, headers, data, len(data) // 2)


def cuts_after_the_work(request: Request, path: str, query: str, body: bytes) -> None:
    """The work is done, but its answer is lost."""
    request.backend(path, query, body)


def trickles(request: Request, path: str, query: str, body: bytes) -> None:
    """The right answer, a few bytes at a time."""
    code, headers, data = request.backend(path, query, body)
    request.answer(code, headers, data, 0)
    step = max(1, len(data) // 20)
    for start in range(0, len(data), step):
        request.wfile.write(data[start : start + step])
        request.wfile.flush()
        request.server.site.closing.wait(0.005)


def keeps_alive(request: Request, path: str, query: str, body: bytes) -> None:
    """Never an end: where the pack should come, the sign of life of a server that is still thinking."""
    _, _, data = request.backend(path, query, body)
    request.send_response(200)
    request.send_header("Content-Type", "application/x-git-upload-pack-result")
    request.send_header("Connection", "close")
    request.end_headers()
    try:
        request.wfile.write(data[: data.index(b"packfile\n") + len(b"packfile\n")])
        while not request.server.site.closing.wait(0.02):
            request.wfile.write(b"0005\x01")
    except OSError:
        return


def has_moved(request: Request, path: str, query: str, body: bytes) -> None:
    """What was `old.git` is `brain.git` now."""
    if path.startswith("/old.git/"):
        request.say(301, "", {"Location": f"{path.replace('old', 'brain', 1)}?{query}"})
    else:
        request.serve_git(path, query, body)


def shows_a_page(request: Request, _path: str, _query: str, _body: bytes) -> None:
    """A login page, as the network of a hotel shows it for every address."""
    request.answer(200, {"Content-Type": "text/html"}, b"<html>Please log in")


def garbles(request: Request, path: str, query: str, body: bytes) -> None:
    """The right answer with damage in its middle."""
    code, headers, data = request.backend(path, query, body)
    middle = len(data) * 3 // 4
    request.answer(code, headers, data[:middle] + bytes(255 - byte for byte in data[middle:]))


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    site: Site

    def handle_error(self, *_: object) -> None:
        """A client that goes away amid an answer is what these tests are about."""


@dataclass
class Site:
    """A running HTTP server for the bare repositories below `root`."""

    root: Path
    url: str = ""
    user: str = "alice"
    password: str | None = None
    trouble: dict[str, Trouble] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def wanted(self) -> str:
        """The header that lets in."""
        return "Basic " + base64.b64encode(f"{self.user}:{self.password}".encode()).decode()


@contextmanager
def http_site(root: Path, certificate: tuple[Path, Path] | None = None) -> Iterator[Site]:
    """Serve the repositories below `root`; over TLS with a `certificate` (its file, its key's file)."""
    site = Site(root)
    with _Http(("127.0.0.1", 0), Request) as server:
        server.site = site
        scheme, host = "http", f"127.0.0.1:{server.server_address[1]}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            scheme = "https"
        site.url = f"{scheme}://{host}"
        thread = threading.Thread(target=lambda: server.serve_forever(0.02))
        thread.start()
        try:
            yield site
        finally:
            site.closing.set()
            server.shutdown()
            thread.join()


def self_signed(folder: Path) -> tuple[Path, Path] | None:
    """A certificate for 127.0.0.1 and its key, made now; None where there is no openssl command."""
    if shutil.which("openssl") is None:
        return None
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    done = subprocess.run(
        [*command, "-keyout", str(key), "-out", str(certificate)],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return certificate, key


@contextmanager
def black_hole() -> Iterator[int]:
    """A port of this machine that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def full_port() -> Iterator[int]:
    """A port that does not even finish the handshake of TCP, as behind a firewall that drops packets."""
    waiting: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        port = server.getsockname()[1]
        try:
            for _ in range(8):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
                waiting.append(client)
            yield port
        finally:
            for client in waiting:
                client.close()


def closed_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


_SSH = """#!/bin/sh
# Stands in for ssh: says what ssh says in the trouble of the day, or runs git's own command here.
here='{here}'
printf '%s\\n' "$*" >> "$here/calls"
for command; do :; done
case "$(cat "$here/trouble")" in
  '') ;;
  unknown-host) printf 'No ED25519 host key is known for git.example.com and you have requested strict checking.\\r
Host key verification failed.\\r\\n' >&2; exit 255 ;;
  changed-host) printf '@@@@@@@@@@@@@@@@@@@@@@\\r\\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\\r
Host key verification failed.\\r\\n' >&2; exit 255 ;;
  denied) printf 'git@git.example.com: Permission denied (publickey).\\r\\n' >&2; exit 255 ;;
  no-host) printf 'ssh: Could not resolve hostname git.example.com: Name or service not known\\r\\n' >&2; exit 255 ;;
  refused) printf 'ssh: connect to host git.example.com port 22: Connection refused\\r\\n' >&2; exit 255 ;;
  closed) printf 'kex_exchange_identification: Connection closed by remote host\\r\\n' >&2; exit 255 ;;
  no-repository) printf 'ERROR: Repository not found.\\n' >&2; exit 1 ;;
  not-git) printf "fatal: '/x' does not appear to be a git repository\\n" >&2; exit 128 ;;
  asks)
    if (: < /dev/tty) 2>/dev/null; then echo terminal >> "$here/asked"; read -r answer < /dev/tty; fi
    if [ "$SSH_ASKPASS_REQUIRE" != never ] && [ -n "$SSH_ASKPASS" ]; then echo askpass >> "$here/asked"; fi
    printf 'git@git.example.com: Permission denied (publickey,password).\\r\\n' >&2; exit 255 ;;
  greets) echo 'Welcome to git.example.com, the weather is fine' ;;
  hangs) exec sleep 600 ;;
  stubborn) trap '' TERM; sleep 600 & wait; wait ;;
  stalls) eval "$command" | dd bs=1 count=4000 2>/dev/null; exec sleep 600 ;;
  cuts) eval "$command" | {{ dd bs=1 count=4000 2>/dev/null; kill -9 $$; }} ;;
  full) trap '' XFSZ; ulimit -f 1 ;;
esac
eval "exec $command"
"""


@dataclass(frozen=True)
class Ssh:
    """A stand-in for ssh that lies in `here`: its trouble, and how it was called."""

    here: Path

    @property
    def command(self) -> str:
        """What `GIT_SSH_COMMAND` names."""
        return str(self.here / "ssh")

    @property
    def calls(self) -> str:
        """The arguments of each call."""
        place = self.here / "calls"
        return place.read_text(encoding="utf-8") if place.exists() else ""

    @property
    def asked(self) -> str:
        """Where the trouble `asks` could ask a person: nowhere, if this is empty."""
        place = self.here / "asked"
        return place.read_text(encoding="utf-8") if place.exists() else ""

    def make(self, trouble: str = "") -> None:
        """From now on there is this trouble, or none."""
        (self.here / "trouble").write_text(trouble, encoding="utf-8")


def stand_in_ssh(here: Path) -> Ssh:
    """Make one in the folder `here`, which is new."""
    here.mkdir()
    ssh = Ssh(here)
    Path(ssh.command).write_text(_SSH.format(here=here), encoding="utf-8")
    Path(ssh.command).chmod(0o755)
    ssh.make()
    return ssh
