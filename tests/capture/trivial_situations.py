"""Sessions in which something went wrong and nothing was learned: slips, missing packages, taken ports."""

from __future__ import annotations

from tests.capture.sessions import answer, edit, fetch, run, says, search, session, user
from tests.capture.situations import Situation

TRIVIAL = (
    Situation(
        "a missing comma",
        session(
            user("why does the build fail?"),
            run("npm run build", "SyntaxError: Unexpected token (12:4)", failed=True),
            edit("src/config.ts", ","),
            run("npm run build", "built"),
            says(
                "The build failed because of a missing comma in `src/config.ts`. I added it and the build passes now."
            ),
        ),
        most=0,
    ),
    Situation(
        "a package was not installed",
        session(
            user("tests don't start"),
            run("pytest", "ModuleNotFoundError: No module named 'respx'", failed=True),
            run("pip install -r requirements-dev.txt", "installed"),
            run("pytest", "40 passed"),
            says(
                "`respx` wasn't installed in your environment. After installing the dev requirements all 40 tests pass."
            ),
        ),
        most=0,
    ),
    Situation(
        "a port in use",
        session(
            user("the dev server doesn't start"),
            run("npm run dev", "EADDRINUSE: address already in use :::3000", failed=True),
            run("lsof -i :3000", "node 4711"),
            run("kill 4711", ""),
            run("npm run dev", "ready"),
            says("Port 3000 was already in use by an old node process. I stopped it and the server is running."),
        ),
        most=0,
    ),
    Situation(
        "a test that was simply outdated",
        session(
            user("fix the failing test"),
            run("npx jest", "Expected: 'Save' Received: 'Save changes'", failed=True),
            edit("src/Form.test.tsx", "Save changes"),
            run("npx jest", "12 passed"),
            says(
                "The test expected the old label `Save`; the button says `Save changes` since the last commit. I "
                "updated the expectation."
            ),
        ),
        most=0,
    ),
    Situation(
        "a typo in a name",
        session(
            user("getting undefined is not a function in the console"),
            search("formatDat", "src/list.js"),
            edit("src/list.js", "formatDate"),
            says("It was a typo: `formatDat` instead of `formatDate` in `list.js`. Fixed."),
        ),
        most=0,
    ),
    Situation(
        "the wrong branch",
        session(
            user("my changes are gone!"),
            run("git branch", "* main feat/x"),
            run("git log feat/x -1", "wip"),
            says(
                "Your changes are still there: you're on `main`, they were committed on `feat/x`. I switched back "
                "to `feat/x`."
            ),
        ),
        most=0,
    ),
    Situation(
        "compile errors while implementing",
        session(
            user("implement pagination for the list endpoint"),
            edit("list.go", "limit"),
            run("go build ./...", "undefined: Limit", failed=True),
            says("The compiler complains because `Limit` isn't exported from the query package. Let me fix that."),
            edit("query.go", "Limit"),
            run("go build ./...", ""),
            run("go test ./...", "ok"),
            says(
                "Pagination is implemented: `GET /items?limit=&offset=`. Default limit is 20, maximum 100. All "
                "tests pass."
            ),
        ),
        most=0,
    ),
    Situation(
        "a question about a library, answered from its docs",
        session(
            user("does pydantic v2 still support validators with pre=True?"),
            fetch("https://docs.pydantic.dev", "…"),
            says(
                "No, in v2 `@validator(pre=True)` is deprecated; use `@field_validator(mode='before')` instead. The "
                "old decorator still works but emits a warning."
            ),
        ),
        most=0,
    ),
    Situation(
        "preferences for this once",
        session(
            user("write a commit message"),
            answer("Which style do you want?", "short, one line"),
            says("`Add pagination to the list endpoint`"),
        ),
        most=0,
    ),
    Situation(
        "log reading without a finding",
        session(
            user("anything odd in the logs?"),
            run("tail -500 app.log", "…"),
            says(
                "Nothing unusual: 480 of 500 lines are health checks, the rest are normal requests. There are no "
                "errors or warnings in this window."
            ),
        ),
        most=0,
    ),
)
