"""More sessions with what they teach: longer ones, other manners of speaking, and claims that did not last."""

from __future__ import annotations

from tests.capture.sessions import answer, edit, fetch, plan, read, refusal, run, says, search, session, user
from tests.capture.situations import Situation, fact

LASTING = (
    Situation(
        "go: data race behind a flaky test",
        session(
            user("TestScheduler is flaky on CI, maybe 1 in 20 runs. please find out what's happening"),
            run("go test -run TestScheduler -count=200 ./sched", "--- FAIL: TestScheduler (0.02s)", failed=True),
            says("I can reproduce it. Let me run it with the race detector."),
            run(
                "go test -race -run TestScheduler -count=50 ./sched",
                "WARNING: DATA RACE\nRead at sched.go:71",
                failed=True,
            ),
            read("sched/sched.go"),
            says(
                "The race detector points at `nextRun`: the ticker goroutine reads it without holding `mu`, while "
                "`Reschedule()` writes it "
                "under the lock. When both hit the same tick, the job is scheduled for the old time and the test "
                "times out."
            ),
            edit("sched/sched.go", "s.mu.Lock()"),
            run("go test -race -run TestScheduler -count=500 ./sched", "ok"),
            says("500 runs with `-race` are clean now. `nextRun` is read under `mu` everywhere."),
        ),
        (fact("nextrun", "lock|mu|race", "ticker|reschedule"),),
    ),
    Situation(
        "next.js: hydration mismatch",
        session(
            user("Getting 'Text content does not match server-rendered HTML' on the pricing page"),
            read("app/pricing/page.tsx"),
            says("I see `toLocaleString()` being used for the prices."),
            says(
                "The hydration error comes from `formatPrice()`: it calls `toLocaleString()` without a locale, so "
                "the server (en-US in the "
                "container) renders `1,299.00` and a German browser renders `1.299,00`. Passing the locale from the "
                "route params makes both sides agree."
            ),
            edit("lib/format.ts", "toLocaleString(locale)"),
            says("Fixed — `formatPrice()` now takes the locale explicitly."),
        ),
        (fact("tolocalestring|formatprice", "locale", "server|hydration"),),
    ),
    Situation(
        "rust: allocation in a loop, measured",
        session(
            user("profile the tokenizer, it's our hot path"),
            run("cargo bench", "tokenize time: [412.11 µs]"),
            run("perf report", "41% alloc::raw_vec::finish_grow"),
            says(
                "41% of the time is spent growing vectors: `Token::text` clones the slice into a `String` for each "
                "token."
            ),
            edit("src/lex.rs", "Cow<'a, str>"),
            run("cargo bench", "tokenize time: [238.02 µs]"),
            says(
                "`cargo bench` went from 412 µs to 238 µs by borrowing `Token::text` as `Cow<str>` rather than "
                "cloning a `String` per token."
            ),
        ),
        (fact("token", "cow|clon|borrow", "412|238|41%"),),
    ),
    Situation(
        "postgres: index not used because of a cast",
        session(
            user("this query takes 9 seconds although there is an index on external_id??"),
            run("psql -c 'explain analyze …'", "Seq Scan on events  Filter: ((external_id)::text = '123'::text)"),
            says(
                "The planner can't use the index. `external_id` is `bigint`, but the driver binds the parameter as "
                "text, which turns the predicate into "
                "`external_id::text = '123'`, and that expression is not indexed. Bind it as an integer and the "
                "index scan takes 2 ms."
            ),
        ),
        (fact("external_id", "text|cast|bigint", "index"),),
        most=1,
    ),
    Situation(
        "redis: sessions evicted",
        session(
            user("users get logged out at random since last week"),
            run("redis-cli config get maxmemory-policy", "allkeys-lru"),
            run("redis-cli info stats", "evicted_keys:88213"),
            says(
                "Found the reason: since the feed cache moved into the same Redis, memory hits `maxmemory`, and with "
                "`allkeys-lru` Redis evicts session keys "
                "too, although they have a TTL of 30 days. 88,213 keys were evicted so far. Sessions need their own "
                "instance or `volatile-ttl` won't help either."
            ),
        ),
        (fact("evict", "session", "allkeys-lru|maxmemory"),),
        most=1,
    ),
    Situation(
        "an edit turned down with the reason",
        session(
            user("upgrade the outdated dependencies"),
            run("npm outdated", "acme-sdk 2.9.1 3.2.0"),
            says("I'll bump `acme-sdk` to 3.2.0 because it is two majors of fixes ahead."),
            edit("package.json", '"acme-sdk": "3.2.0"', failed=True, result="The user doesn't want to proceed"),
            refusal(
                "leave acme-sdk at 2.x, version 3 drops the fiscal printer driver that all our stores in Italy use"
            ),
            says("Okay, I'll keep `acme-sdk` at 2.x and upgrade the rest."),
            edit("package.json", "others"),
            says("Upgraded 11 packages."),
        ),
        (fact("acme-sdk|version 3|2.x", "printer|ital|drops"),),
        ("two majors of fixes",),
        1,
        ("confirmed", "decision"),
    ),
    Situation(
        "domain rule in the first prompt",
        session(
            user(
                "Add a check to the invoice builder. For EU customers we must never add VAT ourselves, because the "
                "ERP already adds it when the invoice is "
                "imported; otherwise they'd be charged twice."
            ),
            edit("billing/invoice.py", "if customer.region == 'EU'"),
            says("Added the check in `InvoiceBuilder.lines()`."),
        ),
        (fact("vat", "erp", "never|twice|already"),),
        most=1,
        statuses=("confirmed",),
    ),
    Situation(
        "licence forbids a library",
        session(
            user("render the charts to pdf"),
            edit("charts/pdf.py", "import itext"),
            says("I used iText to render the PDFs."),
            user("We can't use iText, it's AGPL and legal doesn't allow AGPL in anything we ship. Use reportlab."),
            edit("charts/pdf.py", "import reportlab"),
            says("Switched to reportlab."),
        ),
        (fact("itext|agpl", "agpl|legal|allow"),),
        most=1,
        statuses=("confirmed",),
    ),
    Situation(
        "compose profile learned by trial",
        session(
            user("start the stack and run the smoke test"),
            run(
                "docker compose up -d",
                'service "mailhog" depends on undefined service smtp: invalid compose project',
                failed=True,
            ),
            run("docker compose --profile dev up -d", "Started"),
            run("make smoke", "ok"),
            says(
                "The smoke test passes. Note that `docker compose up` only works with `--profile dev`, since `smtp` "
                "is defined in that profile only."
            ),
        ),
        (fact("--profile dev", "compose"),),
    ),
    Situation(
        "a whole session in German",
        session(
            user("Warum wird die Mail doppelt verschickt?"),
            read("mail/queue.py"),
            run("grep -c 'sent' mail.log", "212"),
            says(
                "Die Ursache liegt in `flush_queue()`: Der Cronjob läuft jede Minute, ein Durchlauf dauert aber bis "
                "zu 90 s, und `flush_queue()` sperrt die Zeilen "
                "nicht. Dadurch nehmen sich zwei Prozesse dieselben Mails. Mit `SELECT … FOR UPDATE SKIP LOCKED` "
                "passiert das nicht mehr."
            ),
        ),
        (fact("flush_queue", "90 s|sperrt|skip locked|prozesse"),),
        most=1,
    ),
    Situation(
        "a whole session in Spanish",
        session(
            user("¿por qué falla el build en el servidor pero no en local?"),
            run("node --version", "v16.20.0"),
            read("package.json"),
            says(
                "La causa es la versión de Node: el servidor usa Node 16 y `structuredClone()` solo existe desde "
                "Node 17. En local tienes Node 20, por eso "
                "no falla. Hay que fijar `engines.node` en `>=18` y usar la misma imagen."
            ),
        ),
        (fact("structuredclone", "node 17|node 16|solo"),),
        most=1,
    ),
    Situation(
        "second diagnosis replaces the first",
        session(
            user("images are rotated wrongly after upload"),
            read("upload/thumb.py"),
            edit("upload/thumb.py", "rotate(90)"),
            says(
                "Fixed. The cause was that `make_thumb()` ignored portrait images, so I rotate them by 90 degrees "
                "when height is larger than width."
            ),
            user("nope, still wrong for photos from iphones"),
            run("exiftool a.jpg", "Orientation: Rotate 90 CW"),
            says(
                "The real cause is the EXIF orientation tag: iPhones store the sensor image unrotated and set "
                "`Orientation`, which `make_thumb()` drops when it "
                "saves the JPEG. `ImageOps.exif_transpose()` has to run before resizing."
            ),
            edit("upload/thumb.py", "ImageOps.exif_transpose"),
            user("perfect, that works"),
            says("Great!"),
        ),
        (fact("exif|orientation", "make_thumb|transpose|iphone"),),
        ("ignored portrait", "height is larger"),
        2,
        ("confirmed", "decision", "observed"),
    ),
    Situation(
        "long session: several features, one correction and one cause",
        session(
            user("add an endpoint /v2/reports that lists reports"),
            read("api/reports.py"),
            edit("api/reports.py", "@router.get"),
            run("pytest -q", "88 passed"),
            says("Added `GET /v2/reports` with pagination. All tests pass."),
            user("now add filtering by status"),
            edit("api/reports.py", "status: Status"),
            run("pytest -q", "90 passed"),
            says("`GET /v2/reports?status=` filters by status now."),
            user(
                "use cursor pagination, not offset. offset pagination skips rows in our tables because reports get "
                "deleted while people page through them"
            ),
            edit("api/reports.py", "cursor"),
            says("Switched to cursor pagination."),
            user("commit"),
            run("git commit -am 'reports'", "[main 12ab34c]"),
            says("Committed."),
            user("CI fails on the report tests, check"),
            run("gh run view --log-failed", "sqlite3.OperationalError: no such function: date_trunc", failed=True),
            says(
                "CI runs the tests on SQLite while locally we use Postgres: `date_trunc()` doesn't exist in SQLite. "
                "The workflow never set `DATABASE_URL`, so the "
                "settings fall back to `sqlite://`."
            ),
            edit(".github/workflows/test.yml", "DATABASE_URL"),
            run("gh run watch", "completed success"),
            says(
                "CI is green again. I've set `DATABASE_URL` in the workflow so that tests run against Postgres there "
                "too."
            ),
            user("great. bump the version to 2.3.0"),
            edit("pyproject.toml", "2.3.0"),
            says("Version is now 2.3.0."),
        ),
        (fact("cursor", "offset", "delet|skip"), fact("sqlite", "database_url|date_trunc", "ci|workflow")),
        most=4,
    ),
    Situation(
        "several questions answered while planning",
        session(
            user("plan the new notification service"),
            read("docs/notifications.md"),
            answer("Which delivery guarantee do notifications need?", "At-least-once, consumers dedupe by event id"),
            answer("How long should undelivered notifications be kept?", "7 days, then drop them"),
            answer("Ready to start coding?", "Yes"),
            plan("# Notification service\nat-least-once, 7 days", approved=True),
            edit("notify/main.py", "…"),
            says("The skeleton is in place."),
        ),
        (fact("at-least-once", "dedupe|guarantee|event id"), fact("7 days", "undelivered|kept|drop")),
        ("ready to start",),
        2,
        ("decision",),
    ),
    Situation(
        "numpy built against another version",
        session(
            user("ImportError after the base image update: numpy.core.multiarray failed to import"),
            run("python -c 'import cv2'", "RuntimeError: module compiled against ABI version 0x1000009", failed=True),
            run("pip list", "numpy 2.0.1, opencv-python 4.8.0"),
            says(
                "`opencv-python` 4.8 wheels are compiled against the NumPy 1.x ABI and cannot be loaded with NumPy "
                "2.0, which the new base image brings. "
                "Pinning `numpy<2` works; `opencv-python` 4.10 is the first release that supports NumPy 2."
            ),
            edit("requirements.txt", "numpy<2"),
            run("python -c 'import cv2'", ""),
            says("The import works with `numpy<2` pinned."),
        ),
        (fact("opencv", "numpy", "abi|pin|<2"),),
    ),
    Situation(
        "architecture explained after reading much",
        session(
            user("how does the sync engine decide which side wins? I need to understand why my edit got lost"),
            read("sync/engine.py"),
            read("sync/clock.py"),
            read("sync/merge.py"),
            says(
                "`merge()` compares hybrid logical clocks, not wall time. The device with the higher logical counter "
                "wins even if its edit is older, so a phone "
                "that was offline with many local edits overwrites a single newer edit from the desktop. That is why "
                "your edit was lost: there is no per-field merge, "
                "whole records win or lose."
            ),
        ),
        (fact("merge", "logical|clock|counter", "record|wins"),),
        most=1,
    ),
    Situation(
        "tests only work with a service the user names",
        session(
            user("run the integration tests"),
            run("pytest integration", "ConnectionRefusedError: [Errno 111] localhost:9200", failed=True),
            says("The integration tests need something on port 9200. Should I start Elasticsearch?"),
            user("yes, they need OpenSearch 2, not Elasticsearch: the k-NN plugin we use only exists there"),
            run("docker run -d -p 9200:9200 opensearchproject/opensearch:2", "started"),
            run("pytest integration", "31 passed"),
            says("All 31 integration tests pass against OpenSearch 2."),
        ),
        (fact("opensearch", "k-nn|elasticsearch"),),
        most=2,
    ),
    Situation(
        "codex review finding confirmed by a run",
        session(
            user("review sync.py for correctness"),
            read("sync.py"),
            run("python - <<'E'\nimport sync; print(sync.diff({}, {'a': 0}))\nE", "{}"),
            says(
                "One bug: `diff()` drops keys whose new value is falsy, because it tests `if new[k]` instead of `k "
                "in new`; `diff({}, {'a': 0})` returns `{}`. "
                "Counters that go back to 0 are therefore never synced."
            ),
            host="codex",
        ),
        (fact("diff()", "falsy|0", "key|dropped|drops"),),
        most=1,
    ),
)

FLEETING = (
    Situation(
        "a secret in a prompt",
        session(
            user("always use this api key because the other one is rate limited: sk-live-9aF3kQ71xZp0T4mW8bVy"),
            edit(".env", "API_KEY"),
            says("I've put the key into `.env`."),
        ),
        most=0,
        never=("sk-live",),
    ),
    Situation(
        "premature: claimed before the check that failed",
        session(
            user("the job crashes with a KeyError"),
            read("jobs/run.py"),
            edit("jobs/run.py", ".get('id')"),
            says(
                "The issue is that `payload['id']` is missing for retries, so I use `.get('id')`. This fixes the crash."
            ),
            run("pytest jobs", "KeyError: 'id'", failed=True),
            says("Hmm, still the same error."),
        ),
        most=0,
    ),
    Situation(
        "false claim that the user corrects without a lesson",
        session(
            user("did you update the docs too?"),
            says("Yes, the docs are updated."),
            user("no you didn't, README is unchanged"),
            edit("README.md", "docs"),
            says("You're right, I apologize. The README is updated now."),
        ),
        most=0,
    ),
    Situation(
        "question at the end that nobody answered",
        session(
            user("clean up the feature flags"),
            search("flag", "flags.py"),
            says(
                "I found 14 flags. 9 of them are always on. Should I remove those 9, or keep the ones that are "
                "younger than a month?"
            ),
        ),
        most=0,
    ),
    Situation(
        "work handed over",
        session(
            user("write down where we stopped"),
            edit("NOTES.md", "state"),
            says(
                "I wrote `NOTES.md`.\n\n## Status\n- Parser: done\n- Printer: in progress, `emit_call()` still needs "
                "keyword arguments\n- 3 tests are skipped because the printer is not finished\n\n"
                "## Next steps\n1. Finish `emit_call()`\n2. Enable the tests"
            ),
        ),
        most=0,
    ),
    Situation(
        "documentation read aloud",
        session(
            user("what does the staleTime option of react query do?"),
            fetch("https://tanstack.com/query", "staleTime …"),
            says(
                "`staleTime` is the time in milliseconds after data is considered stale. The default is 0, which "
                "means that queries refetch when a component mounts, when "
                "the window is focused or when the network reconnects."
            ),
        ),
        most=0,
    ),
    Situation(
        "options only",
        session(
            user("how could we speed up the build?"),
            read("webpack.config.js"),
            says(
                "**Options**\n1. Use esbuild instead of babel, because it is much faster\n2. Enable persistent "
                "caching, which avoids rebuilding modules\n3. Drop source maps in dev\n\n"
                "Let me know which one I should implement."
            ),
        ),
        most=0,
    ),
    Situation(
        "scaffolding a project",
        session(
            user("scaffold a fastapi project with docker"),
            edit("app/main.py", "FastAPI()"),
            edit("Dockerfile", "FROM python"),
            edit("docker-compose.yml", "web"),
            run("docker compose build", "built"),
            says(
                "The project is ready.\n\n```\napp/\n  main.py\nDockerfile\n```\n\n**How to run**\n1. `docker "
                "compose up`\n2. Open http://localhost:8000/docs\n\n**What's included**\n- FastAPI with a health "
                "endpoint\n- A multi-stage Dockerfile so that the image stays small\n- Hot reload in development"
            ),
        ),
        most=0,
    ),
    Situation(
        "merge conflict resolved",
        session(
            user("rebase onto main and resolve the conflicts"),
            run("git rebase main", "CONFLICT (content): Merge conflict in a.py", failed=True),
            edit("a.py", "merged"),
            run("git rebase --continue", "Successfully rebased"),
            says(
                "The rebase is done. There was one conflict in `a.py`, because both branches changed the import "
                "block; I kept both imports. Your branch is 4 commits ahead of main."
            ),
        ),
        most=0,
    ),
    Situation(
        "css tweak by taste",
        session(
            user("make the button a bit bigger"),
            edit("button.css", "padding: 12px"),
            says("Increased the padding from 8px to 12px."),
            user("no, a bit smaller"),
            edit("button.css", "padding: 10px"),
            says("Now it's 10px."),
            user("don't use blue, use the green one"),
            edit("button.css", "color: green"),
            says("Changed to green."),
        ),
        most=0,
    ),
    Situation(
        "data typed over from a sheet",
        session(
            user("convert this table to json:\nname,price\napple,3\npear,4"),
            says('```json\n[{"name": "apple", "price": 3}, {"name": "pear", "price": 4}]\n```'),
        ),
        most=0,
    ),
    Situation(
        "model limits talked about",
        session(
            user("can you remember this for the next session?"),
            says(
                "I don't have memory between sessions, so I can't remember things unless they are written to a file "
                "like CLAUDE.md."
            ),
        ),
        most=0,
    ),
    Situation(
        "a paste with rules in it",
        session(
            user(
                "fix the grammar of this text: 'We always ships on fridays, because the customers expects it. Never "
                "deploys on mondays.'"
            ),
            says("'We always ship on Fridays because the customers expect it. Never deploy on Mondays.'"),
        ),
        most=0,
    ),
    Situation(
        "flaky network during a push",
        session(
            user("push the branch"),
            run("git push", "fatal: unable to access: Could not resolve host", failed=True),
            run("git push", "ok"),
            says("Pushed. The first attempt failed because the host could not be resolved; the second one worked."),
        ),
        most=0,
    ),
)
