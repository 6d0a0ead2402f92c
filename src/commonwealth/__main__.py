"""The only entry: hooks go past click; a failure becomes a sentence, a next step and an exit code."""

from __future__ import annotations

import codecs
import io
import os
import sys

from commonwealth import __version__
from commonwealth.errors import BrainError, Bug, Refused

INTERRUPTED = 130


def main() -> int:
    """Run `brain` with the arguments of this process and return its exit code. Never raises."""
    arguments = sys.argv[1:]
    _make_streams_safe()
    if arguments[:1] == ["hook"] and not {"--help", "-h"} & set(arguments):
        return _hook(arguments[1:])
    try:
        code = _dispatch(arguments)
        _finish()
    except BrainError as error:
        return _tell(error, arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough; what was asked for is done
        _drop_stdout()
        return 0
    except Exception as error:  # noqa: BLE001  # the edge of the process: nothing may reach the terminal raw
        return _tell_bug(error, arguments)
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments == ["--version"]:
        _finish(f"brain {__version__}\n")
        return 0
    if arguments[:1] == ["mcp"]:
        from commonwealth.adapters.mcp import server

        options = server.plain_options(arguments[1:])
        if options is not None:
            return server.serve(*options)
    from commonwealth.adapters import cli

    return cli.run(arguments)


def _finish(text: str = "") -> None:
    """Write `text` and whatever still waits. Raises Refused where the output cannot take it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_stdout()
        raise Refused(f"The output could not be written ({error.strerror}).") from None


def _hook(arguments: list[str]) -> int:
    """A host's session goes on whatever happens here: exit 0, and at most a log file."""
    try:
        from commonwealth.adapters import hooks

        hooks.main(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    except KeyboardInterrupt:
        pass
    except Exception as error:  # noqa: BLE001  # the edge of the process
        _log(error, ["hook"])
    return 0


def _tell(error: BrainError, arguments: list[str]) -> int:
    from commonwealth.adapters import faultlog
    from commonwealth.safetext import clean

    error.message = faultlog.without_secrets(error.message)
    error.hint = faultlog.without_secrets(error.hint) if error.hint else None
    _answer(error, arguments)
    lines = [f"error: {clean(error.message)}"]
    if error.hint:
        lines.append(f"hint: {clean(error.hint)}")
    _complain("\n".join(lines))
    return error.exit_code


def _tell_bug(error: Exception, arguments: list[str]) -> int:
    path = _log(error, arguments)
    kept = f"the details are in {path}" if path else "and the log file could not be written"
    bug = Bug(
        f"`brain` met a fault of its own ({type(error).__name__}); {kept}.",
        hint="Please report it with that file; it holds no text of yours.",
    )
    return _tell(bug, arguments)


def _answer(error: BrainError, arguments: list[str]) -> None:
    """The JSON document of a command that failed, where one was asked for."""
    if "--json" in arguments:
        from commonwealth.adapters.cli import failed

        failed.answer(error, arguments)


def _log(error: Exception, arguments: list[str]) -> str | None:
    from commonwealth.adapters import faultlog

    try:
        return faultlog.write(error, arguments)
    except OSError:
        return None


def _complain(text: str) -> None:
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _drop_stdout()
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        pass


def _make_streams_safe() -> None:
    """No character of a note may crash a console that cannot show it; a closed stream swallows."""
    codecs.register_error("commonwealth.legible", _legible)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="commonwealth.legible")


def _nowhere() -> io.TextIOWrapper:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def _legible(error: UnicodeError) -> tuple[str, int]:
    """What stands for letters that an encoding lacks: `...` for `…`, `e` for `é`, `?` where nothing does."""
    import unicodedata

    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    plain = (unicodedata.normalize("NFKD", letter).encode("ascii", "ignore") for letter in lacking)
    return "".join(letter.decode("ascii") or "?" for letter in plain), error.end


def _drop_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush cannot complain."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)


if __name__ == "__main__":
    sys.exit(main())
