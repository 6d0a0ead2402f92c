"""What hosts publish of their APIs, and a server that says what a test wants, with all that it was asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

from tests.repo.servers import closed_port

PULLS = "/repos/{owner}/{repo}/pulls"
SECONDS = 60


def published() -> Path:
    """The folder with the hosts' descriptions. Skips where they are not installed."""
    folder = Path(os.environ.get("FORGES_DIR", "")) / "node_modules"
    there = os.environ.get("FORGES_DIR") and (folder / ".bin/prism").exists() and shutil.which("node")
    if not there:
        if os.environ.get("COMMONWEALTH_REQUIRE_CLIENTS"):
            pytest.fail("the hosts' API descriptions are required: sh tests/e2e/install_forges.sh DIR, FORGES_DIR=DIR")
        pytest.skip("no API descriptions: sh tests/e2e/install_forges.sh DIR, then set FORGES_DIR=DIR")
    return folder


def described() -> dict[str, object]:
    """GitHub's description of pull requests alone: the whole takes a mock server half a minute to read."""
    place = published() / "@octokit/openapi/generated/api.github.com.json"
    whole = json.loads(place.read_text(encoding="utf-8"))
    paths = {name: whole["paths"][name] for name in (PULLS, PULLS + "/{pull_number}")}
    parts: dict[str, dict[str, object]] = {}
    todo = _named(paths)
    while todo:
        _, _, kind, name = todo.pop().split("/", 3)
        if name not in parts.setdefault(kind, {}):
            parts[kind][name] = whole["components"][kind][name]
            todo |= _named(parts[kind][name])
    return {"openapi": whole["openapi"], "info": whole["info"], "paths": paths, "components": parts}


def _named(part: object) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*map(_named, part.values()))
    return set().union(*map(_named, part)) if isinstance(part, list) else set()


@contextmanager
def mock(folder: Path) -> Iterator[str]:
    """GitHub's description, served: a question that it does not allow is answered with an error."""
    place, port = folder / "github.json", closed_port()
    place.write_text(json.dumps(described()), encoding="utf-8")
    words = [str(published() / ".bin/prism"), "mock", "-h", "127.0.0.1", "-p", str(port), str(place)]
    with (folder / "prism.log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            _await(f"http://127.0.0.1:{port}/", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(SECONDS)


def _await(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(url, timeout=5).close()
        except HTTPError:
            return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError("the mock server did not start")


@dataclass
class Asked:
    """One question that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Talker:
    """A server whose answers the test has given: by method, (status, headers, body) one after the other."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: dict[str, list[tuple[int, dict[str, str], object]]] = field(default_factory=dict)

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def says(self, method: str, status: int, body: object = None, **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.setdefault(method, []).append((status, named, body))


class _Handler(BaseHTTPRequestHandler):
    talker: Talker

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.talker.asked.append(Asked(method, self.path, dict(self.headers), body))
        left = self.talker.answers.get(method, [])
        status, headers, said = left.pop(0) if left else (200, {}, [])
        data = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def talking() -> Iterator[Talker]:
    """Such a server, running."""
    talker = Talker()
    handler = type("Handler", (_Handler,), {"talker": talker})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        talker.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=lambda: server.serve_forever(0.02))
        thread.start()
        try:
            yield talker
        finally:
            server.shutdown()
            thread.join()
