"""Sessions in the wordy manner of newer models, with headings, tables and lists, and some with several facts."""

from __future__ import annotations

from tests.capture.sessions import edit, read, run, says, search, session, user
from tests.capture.situations import Situation, fact

WORDY = (
    Situation(
        "report with problem, root cause, solution and files",
        session(
            user("The websocket reconnect storm took down prod yesterday. Please look into it and fix."),
            search("reconnect", "client/socket.ts"),
            read("client/socket.ts"),
            edit("client/socket.ts", "backoff"),
            run("npm test -- socket", "12 passed"),
            says(
                "## Summary\n\nI've fixed the reconnect storm.\n\n### Problem\n\nAll clients reconnected at the same "
                "instant after a deploy.\n\n### Root cause\n\n"
                "`scheduleReconnect()` used a fixed delay of 3 s. Because the load balancer drops every connection "
                "at once when it drains, 40k clients came back within "
                "the same second and exhausted the accept queue.\n\n### Solution\n\n- Full jitter between 0 and "
                "`min(30 s, 2^n)`\n- Reset only after 60 s of a stable connection\n\n"
                "### Files changed\n\n- `client/socket.ts`\n- `client/socket.test.ts`\n\n✅ All tests pass"
            ),
        ),
        (fact("schedulereconnect|reconnect", "fixed delay|same second|jitter", "load balancer|40k|drain"),),
        ("all tests pass", "files changed"),
        2,
    ),
    Situation(
        "table of measurements",
        session(
            user("can we reduce the lambda cold starts? they're at 4s"),
            run("./measure.sh", "init 4112 ms"),
            edit("esbuild.config.mjs", "external"),
            run("./measure.sh", "init 890 ms"),
            says(
                "Cold start is down to 0.9 s.\n\n| Step | Init |\n|---|---|\n| before | 4112 ms |\n| bundle with "
                "esbuild | 1630 ms |\n| lazy `aws-sdk` clients | 890 ms |\n\n"
                "Most of the time went into resolving 3,400 small files in `node_modules`; bundling into one file "
                "removes that, and creating the `aws-sdk` clients lazily saves another 740 ms."
            ),
        ),
        (fact("node_modules|bundl", "4112|890|3,400|740|0.9"),),
    ),
    Situation(
        "user pastes a stack trace and adds the rule",
        session(
            user(
                "prod is throwing this:\n```\njava.lang.IllegalStateException: No current transaction\n  at "
                "com.acme.Outbox.append(Outbox.java:31)\n```\nfix it please"
            ),
            read("src/main/java/com/acme/Outbox.java"),
            edit("src/main/java/com/acme/OrderService.java", "@Transactional"),
            says("I added `@Transactional(propagation = REQUIRES_NEW)` to `Outbox.append()`."),
            user(
                "Not REQUIRES_NEW! The outbox row must be written in the same transaction as the order, that's the "
                "whole point of the outbox. Put @Transactional on OrderService.place instead."
            ),
            edit("src/main/java/com/acme/OrderService.java", "@Transactional"),
            says(
                "Moved `@Transactional` to `OrderService.place()`; the outbox row is now written in the order's "
                "transaction."
            ),
        ),
        (fact("outbox", "same transaction", "order|must"),),
        most=2,
        statuses=("confirmed", "decision", "observed"),
    ),
    Situation(
        "three causes found one after another in one turn",
        session(
            user("the ios build is broken since xcode 16, get it green again"),
            run("xcodebuild", "error: module 'Crypto' was created for incompatible target", failed=True),
            says(
                "The `Crypto` module is prebuilt for arm64 simulators only. Xcode 16 drops the x86_64 fallback, so "
                "the pod has to be built from source."
            ),
            edit("Podfile", "use_frameworks!"),
            run("xcodebuild", "error: Sandbox: rsync deny(1) file-write-create", failed=True),
            says(
                "Next one: Xcode 16 turns on `ENABLE_USER_SCRIPT_SANDBOXING` by default, and the CocoaPods embed "
                "script writes outside of its declared outputs, so it gets denied."
            ),
            edit("ios/App.xcodeproj", "ENABLE_USER_SCRIPT_SANDBOXING = NO"),
            run("xcodebuild", "BUILD SUCCEEDED"),
            says(
                "The build is green. Two changes were needed: `Crypto` is built from source, and "
                "`ENABLE_USER_SCRIPT_SANDBOXING` is off because CocoaPods' embed script isn't sandbox-safe."
            ),
        ),
        (fact("enable_user_script_sandboxing", "cocoapods|script", "den|outside|sandbox"),),
        most=2,
    ),
    Situation(
        "the user explains how their system works in answer to a question",
        session(
            user("write a job that deactivates stale devices"),
            read("devices/models.py"),
            says("What counts as stale? `last_seen` is null for many devices."),
            user(
                "last_seen is only set by firmware 4 and later. older firmware reports through the gateway, so for "
                "those use gateway.last_contact"
            ),
            edit("devices/jobs.py", "coalesce"),
            says("The job uses `last_seen` for firmware ≥ 4 and `gateway.last_contact` for the others."),
        ),
        (fact("last_seen", "firmware 4|firmware", "gateway"),),
        most=1,
    ),
    Situation(
        "api contract found by probing",
        session(
            user("our import from the partner api stops after 1000 rows, why"),
            run("curl 'https://partner/api/items?limit=5000' | jq '.items|length'", "1000"),
            run("curl 'https://partner/api/items?limit=1000&offset=1000' | jq '.items|length'", "0"),
            run("curl -i 'https://partner/api/items?limit=1000'", "x-next-cursor: abc"),
            says(
                "The partner API silently caps `limit` at 1000 and ignores `offset` altogether: the second page "
                "comes back empty. Paging works only through the `x-next-cursor` response header, "
                "which has to be passed back as `cursor`."
            ),
            edit("importer/partner.py", "cursor"),
            run("python -m importer.partner --dry-run", "fetched 48211 items"),
            says("The importer follows `x-next-cursor` now and fetched all 48,211 items in the dry run."),
        ),
        (fact("x-next-cursor|cursor", "offset|limit", "1000|ignores|caps"),),
        most=2,
    ),
    Situation(
        "workaround for a bug of a dependency",
        session(
            user("vitest hangs at the end of the run"),
            run("npx vitest run", "Command timed out after 180s", failed=True),
            run("npx vitest run --pool=forks", "Tests 214 passed"),
            says(
                "With the default `threads` pool vitest never exits, since `better-sqlite3` keeps a native handle "
                "open in the worker thread. `--pool=forks` avoids it: the process is killed together "
                "with the handle."
            ),
            edit("vitest.config.ts", "pool: 'forks'"),
            says("I set `pool: 'forks'` in `vitest.config.ts`."),
        ),
        (fact("forks", "vitest", "better-sqlite3|handle|hangs|exit"),),
        most=2,
    ),
    Situation(
        "hypothesis by the user confirmed by a query",
        session(
            user("I suspect that the dedupe job deletes the wrong copy. can you verify?"),
            run("psql -c 'select …'", " 381 rows"),
            says(
                "Your suspicion is right. `dedupe_contacts` keeps the row with the lowest id, but imports are "
                "inserted newest first, so the lowest id is the newest import with the fewest fields. "
                "In 381 of 402 merged contacts the richer record was deleted."
            ),
        ),
        (fact("dedupe_contacts|dedupe", "lowest id|newest", "381|richer|deleted"),),
        most=1,
    ),
    Situation(
        "convention stated while reviewing",
        session(
            user("add a new event for password changes"),
            edit("events/password.go", "PasswordChangedEvent"),
            says("I've added `PasswordChangedEvent` and publish it in `ChangePassword()`."),
            user(
                "looks good, but event names are always past tense without the Event suffix in this codebase (e.g. "
                "UserCreated), the consumers route by that name"
            ),
            edit("events/password.go", "PasswordChanged"),
            says("Renamed to `PasswordChanged`."),
        ),
        (fact("event", "past tense|suffix", "always|route|name"),),
        most=1,
        statuses=("confirmed",),
    ),
    Situation(
        "decision between two ways by the user with the reason",
        session(
            user("we need to store uploads"),
            read("app/uploads.py"),
            says(
                "We could store them in Postgres as `bytea` or in S3. S3 scales better, Postgres keeps backups "
                "consistent. Which do you want?"
            ),
            user(
                "S3. backups of the database must stay below 50 GB, otherwise the nightly restore test doesn't finish"
            ),
            edit("app/uploads.py", "boto3"),
            says("Uploads go to S3 now."),
        ),
        (fact("s3|50 gb", "backup|restore"),),
        most=2,
        statuses=("decision", "confirmed"),
    ),
    Situation(
        "gotcha of a test framework met twice",
        session(
            user("write a test for the debounce hook"),
            edit("src/useDebounce.test.ts", "vi.useFakeTimers()"),
            run(
                "npx jest useDebounce",
                "Timeout - Async callback was not invoked within the 5000 ms timeout",
                failed=True,
            ),
            says(
                "The test times out because `userEvent.type()` awaits real timers internally while fake timers are "
                "installed. `userEvent.setup({ advanceTimers: jest.advanceTimersByTime })` is needed."
            ),
            edit("src/useDebounce.test.ts", "advanceTimers"),
            run("npx jest useDebounce", "1 passed"),
            says("The test passes."),
        ),
        (fact("userevent", "timers", "advancetimers|await"),),
        most=1,
    ),
    Situation(
        "permissions of a cloud role",
        session(
            user("deploy fails with AccessDenied on s3:PutObjectAcl"),
            run(
                "aws s3 cp dist s3://site --recursive --acl public-read",
                "AccessDenied when calling PutObject",
                failed=True,
            ),
            run("aws s3api get-public-access-block --bucket site", "BlockPublicAcls: true"),
            run("aws s3 cp dist s3://site --recursive", "upload: ok"),
            says(
                "The bucket has `BlockPublicAcls` on, so any upload with `--acl public-read` is denied, whatever the "
                "role may do. The site is served through CloudFront with OAC, so the ACL isn't needed: I dropped the "
                "flag."
            ),
        ),
        (fact("acl", "blockpublicacls|denied", "cloudfront|flag|bucket"),),
        most=2,
    ),
    Situation(
        "number changed by a correction",
        session(
            user("set the retry limit for webhooks"),
            edit("webhooks.rb", "MAX_RETRIES = 10"),
            says("`MAX_RETRIES` is now 10."),
            user("actually it must not exceed 5: after the sixth attempt the receiver bans our IP for a day"),
            edit("webhooks.rb", "MAX_RETRIES = 5"),
            says("Set to 5."),
        ),
        (fact("5", "exceed|sixth", "ban|ip"),),
        most=1,
        statuses=("confirmed",),
    ),
    Situation(
        "insight blocks beside the work",
        session(
            user("make the importer idempotent, it creates duplicates when it is restarted"),
            read("importer/run.go"),
            edit("importer/run.go", "ON CONFLICT"),
            run("go test ./importer", "ok"),
            says(
                "`★ Insight ─────────────────────────────────────`\n- `ON CONFLICT DO NOTHING` is an upsert "
                "variant\n- Idempotency is important in distributed "
                "systems\n`─────────────────────────────────────────────────`\n\n"
                "The importer is idempotent now. Duplicates came from the checkpoint being written after the batch "
                "was committed: a crash in between replayed the whole batch. "
                "Rows now carry a unique `(source, external_id)` key and conflicts are skipped."
            ),
        ),
        (fact("checkpoint|external_id", "batch|crash|conflict|replay"),),
        ("important in distributed",),
        2,
    ),
    Situation(
        "why not: an approach tried and given up",
        session(
            user("try to replace moment with the Temporal API"),
            edit("src/dates.ts", "Temporal"),
            run("npm run e2e", "Safari: ReferenceError: Can't find variable: Temporal", failed=True),
            says(
                "Safari doesn't ship `Temporal` yet, and the polyfill adds 56 KB gzipped, more than `moment` itself. "
                "I reverted to `date-fns`, which covers all three call sites with 6 KB."
            ),
        ),
        (fact("temporal", "safari|polyfill", "56 kb|date-fns|moment"),),
        most=2,
    ),
)

SMOOTH = (
    Situation(
        "wordy feature work",
        session(
            user("Add a CSV export button to the orders table"),
            read("src/OrdersTable.tsx"),
            edit("src/OrdersTable.tsx", "<ExportButton/>"),
            edit("src/csv.ts", "toCsv"),
            run("npm run build", "built in 4.1s"),
            says(
                "## ✅ Implementation complete\n\nThe CSV export is ready.\n\n### What I did\n\n1. **Created "
                "`src/csv.ts`** - converts rows to CSV with proper escaping\n2. **Updated `OrdersTable.tsx`** - adds "
                "an Export button that "
                "downloads `orders.csv`\n3. **Added tests** - covers escaping of quotes and newlines\n\n### Key "
                "features\n\n- Exports only the filtered rows\n- Works in all modern browsers\n- Fully typed\n\n### "
                "Next steps\n\n- You can customise the columns in `csv.ts`\n\n"
                "The build succeeds without errors. Let me know if you'd like any changes!"
            ),
        ),
        most=0,
    ),
    Situation(
        "refactoring asked for",
        session(
            user("split utils.py into modules"),
            read("utils.py"),
            edit("utils/strings.py", "…"),
            edit("utils/dates.py", "…"),
            run("pytest -q", "211 passed"),
            says(
                "I split `utils.py` into `strings.py`, `dates.py` and `paths.py`. `utils/__init__.py` re-exports "
                "everything so that existing imports keep working. All 211 tests pass."
            ),
        ),
        most=0,
    ),
    Situation(
        "dependency bump",
        session(
            user("update eslint to 9"),
            edit("package.json", "eslint 9"),
            run("npm i", "added 40 packages"),
            run("npx eslint .", ""),
            says(
                "ESLint is at 9.12.0 now and the config was migrated to the flat format (`eslint.config.js`). No "
                "lint errors."
            ),
        ),
        most=0,
    ),
    Situation(
        "review with nits only",
        session(
            user("review my PR"),
            run("gh pr diff", "diff"),
            says(
                "**Overall**: solid work. A few minor suggestions:\n\n1. Consider extracting the magic number 30 "
                "into a constant\n2. `getData` could be renamed to `fetchOrders`\n3. You could use optional chaining "
                "in line 42\n\nNothing blocking, approve from my side."
            ),
        ),
        most=0,
    ),
    Situation(
        "explaining a function",
        session(
            user("explain what parse_header does"),
            read("http/parse.py"),
            says(
                "`parse_header()` splits a header line at the first colon, strips whitespace and returns a tuple of "
                "name and value. It raises `ValueError` for lines without a colon."
            ),
        ),
        most=0,
    ),
    Situation(
        "docs written",
        session(
            user("document the deploy process in docs/deploy.md"),
            read("Makefile"),
            edit("docs/deploy.md", "# Deploy"),
            says("I wrote `docs/deploy.md` with the steps: build, push, migrate, roll out. It links to the runbook."),
        ),
        most=0,
    ),
    Situation(
        "a question about syntax",
        session(
            user("how do I write a left join in sqlalchemy 2?"),
            says(
                "Use `select(User).outerjoin(Address)` or `.join(Address, isouter=True)`. Both produce a LEFT OUTER "
                "JOIN."
            ),
        ),
        most=0,
    ),
    Situation(
        "unfinished debugging",
        session(
            user("why is memory growing?"),
            run("node --inspect app.js", "listening"),
            says(
                "Heap snapshots show growth in `Map` entries, possibly in the session cache or in the metrics "
                "registry. I need a longer run to tell which of the two it is."
            ),
        ),
        most=0,
    ),
)
