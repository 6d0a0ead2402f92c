"""Sessions whose knowledge lies in the course of them: an experiment, an answer to what was found, an open end."""

from __future__ import annotations

from tests.capture.sessions import edit, read, refusal, run, says, search, session, user
from tests.capture.situations import Situation, fact

_PLAN = """Implement the following plan:

# Retry uploads safely

## Context

`PUT /parts` is not idempotent — repeating a part number appends a second part instead of replacing the first.
The uploader repeats every request that timed out. A large file can therefore end with a part in it twice.

## Requirements

- Never repeat a part without asking the server first which parts it has
- Give up after the lease of the upload has ended

## Approach

### 1. Add `listParts()` to the client

Call it before each repetition in `src/upload/retry.ts`. Write tests for it.

### 2. Update the docs

Mention the new option in `docs/upload.md`.
"""

TOLD = (
    Situation(
        "one parameter varied until the outcome flips",
        session(
            user(
                "the label printer at the dock cuts off long labels. it's the relay of the warehouse, not the cloud one"
            ),
            read("printing/relay.py"),
            run("./send.sh 4000", "sent 4000 bytes, printer acknowledged 4000"),
            says("It claims that everything arrived. I'll vary the size."),
            run(
                "for n in 1024 2047 2048 2049 3000; do ./send.sh $n; done",
                "2047 ok\n2048 ok\n2049 cut at 2048\n3000 cut at 2048",
            ),
            says(
                "The edge is at 2048: the relay forwards the first 2048 bytes of a job and acknowledges the rest too."
            ),
            user("wow, ok"),
            edit("printing/relay.py", "CHUNK = 2048"),
            run("pytest printing", "9 passed"),
            says("Jobs are sent in pieces now."),
        ),
        (fact("2048", "relay", "acknowledge|forward|cut"),),
        never=("9 passed",),
        most=2,
    ),
    Situation(
        "two edits turned down, each for a reason",
        session(
            user("show the patient's insurance number on the worklist"),
            read("src/worklist.ts"),
            says("I'll take it from the message mapping."),
            edit("vendor/hl7/mapping.json", '"PID-19"', failed=True),
            refusal(
                "not in there. this folder is mirrored from the hospital's interface team every night, whatever we "
                "change is overwritten",
                of="Edit: mapping.json",
            ),
            says("Then I'll map it on our side and cache it in the browser."),
            edit("src/cache.ts", "localStorage.setItem('insurance', n)", failed=True),
            refusal(
                "column yes, cache no. the worklist runs on shared ward computers and nothing of a patient may stay "
                "on them, the auditors look at exactly that",
                of="Edit: localStorage.setItem",
            ),
            edit("src/worklist.ts", "insurance"),
            says("The column is there, nothing is cached."),
        ),
        (fact("mirrored", "overwritten|every night"), fact("ward|shared", "patient", "audit|stay")),
        most=3,
    ),
    Situation(
        "the person tells a limit of a service in passing",
        session(
            user("why does opening the route planner take so long?"),
            run("bin/profile planner", "81% Geocoder#lookup"),
            says("81% is spent in `Geocoder#lookup`, once for each of the 340 stops, one after the other."),
            user(
                "the geocoder has a batch call, at most 50 addresses per request or it answers with nulls for the rest"
            ),
            edit("app/planner.rb", "each_slice(50)"),
            run("bin/profile planner", "9% Geocoder#batch"),
            says("The planner asks for 50 addresses at once now."),
        ),
        (fact("50", "batch|request", "null|at most"),),
        most=2,
    ),
    Situation(
        "a result taken up with conditions",
        session(
            user("the rebuild of the search index locks the shop for too long, find something better"),
            run("./rebuild.sh --in-place", "locked 38.2 s"),
            says("In place the table is locked for 38.2 s, and every order waits for it."),
            user("what else is there?"),
            run("./rebuild.sh --shadow", "locked 0.4 s, total 61 s"),
            says("With `--shadow` the lock lasts only 0.4 s, although the whole takes 61 s."),
            user(
                "good. shadow then, but only on tuesdays after the backup has run, the disk has no room for both before"
            ),
            edit("ops/cron.yaml", "rebuild.sh --shadow"),
            says("The job is in the crontab."),
        ),
        (fact("shadow", "0.4", "tuesday", "backup|disk"),),
        most=3,
    ),
    Situation(
        "a suspicion that the evening did not prove",
        session(
            user("the ingest worker loses about 30 messages a day, please look into it. i have an hour"),
            read("ingest/worker.go"),
            run("grep -c nack ingest.log", "0"),
            says("No message was refused, 0 in the log, so the broker is not it."),
            run("./replay.sh --no-compress", "lost 31"),
            says("Without compression it loses 31 as well, so that rules out the codec."),
            run("ss -tn | grep -c CLOSE-WAIT", "27"),
            says(
                "There are 27 sockets in CLOSE-WAIT. My suspicion is `drainConn()`: it returns before the last read "
                "when the peer closes first. I can't prove that today, one would have to log the bytes that are left."
            ),
            user("fine, i'll leave it there for now"),
            says("All right."),
        ),
        (fact("drainconn", "suspect", "closes|close-wait"),),
        most=2,
        statuses=("hypothesis",),
    ),
    Situation(
        "a problem that is still there at the end",
        session(
            user("why does the tray icon vanish after the laptop wakes up?"),
            read("src/tray.ts"),
            says("The icon vanishes because `Tray` is created before `app.whenReady()`. I move it."),
            edit("src/tray.ts", "whenReady"),
            user("the tray icon still vanishes"),
            says("The problem is that `Tray` is garbage collected since nothing holds it."),
            edit("src/tray.ts", "let tray"),
            user("no, same thing, the icon is not working after wake up"),
            says("The issue is the `powerMonitor` event, which fires twice."),
            edit("src/tray.ts", "powerMonitor.once"),
            user("still not working"),
            says("Let me look at something else."),
        ),
        (fact("tray icon", "not solved|still"),),
        never=("garbage collected", "fires twice", "whenready"),
        most=1,
        statuses=("hypothesis",),
    ),
    Situation(
        "a plan handed in",
        session(
            user(_PLAN),
            read("src/upload/retry.ts"),
            edit("src/upload/retry.ts", "listParts()"),
            run("npm test", "14 passed"),
            says("`listParts()` is called before each repetition."),
        ),
        (fact("put /parts|parts", "idempotent|appends", "second|twice"), fact("never repeat", "lease|asking")),
        most=2,
        statuses=("observed", "decision"),
    ),
    Situation(
        "a commit is named by what it did",
        session(
            user("two tests fail since yesterday, can you check?"),
            run("go test ./...", "FAIL TestExportAll", failed=True),
            run("git show 4f8c2ab19d --stat", "export everything"),
            says(
                "The commit `4f8c2ab19d` intentionally changed `ExportAll` to write archived rows too instead of "
                "leaving them out, so both tests expect the old behaviour."
            ),
            edit("export_test.go", "archived"),
            run("go test ./...", "ok"),
            says("Both tests expect archived rows now."),
        ),
        (fact("exportall", "archived", "intentionally"),),
        never=("4f8c2ab19d",),
        most=2,
    ),
    Situation(
        "a diagnosis without a word that says so, before the fix",
        session(
            user("the cli prints 'no project here' when I'm in a linked checkout"),
            search("no project here", "internal/root.go:31"),
            read("internal/root.go"),
            says("In a linked checkout `.vcs` is a file, not a directory. `findRoot()` calls `os.Stat` and checks it."),
            edit("internal/root.go", "vcs root --show"),
            run("go test ./internal/...", "ok"),
            says("Fixed: `findRoot()` asks `vcs root --show` now. All tests pass."),
        ),
        (fact("linked checkout", "file", "directory"),),
        never=("all tests pass",),
        most=1,
    ),
    Situation(
        "an option by its bare number, with the reason",
        session(
            user("should the cache be one database or files? the extension runs in two hosts"),
            says(
                "Options:\n1. One database: a single file, but 1.2 MB to download\n2. Plain files: simple, slow beyond "
                "10k entries\n3. Both behind one interface: two code paths\n\nI'd recommend 3."
            ),
            user("let's go with 2, nobody has more than 500 entries and we want to diff the cache in review"),
            edit("src/cache.ts", "writeFile"),
            says("The cache is stored as files."),
        ),
        (fact("plain files", "500|diff"),),
        most=1,
        statuses=("decision",),
    ),
    Situation(
        "a problem told with `every` and `since` is no rule, a word on the domain is one",
        session(
            user("every checkout takes 6 seconds since we added the coupon service. why?"),
            run("bin/trace checkout", "coupons.flush 5.0s\nrest 0.6s"),
            says(
                "5.0 s of the 5.6 s are `coupons.flush()`: it waits for the network timeout behind a proxy, because "
                "`close()` blocks until the queue is empty."
            ),
            edit("coupons.py", "timeout=0.1"),
            says("The flush gets 100 ms."),
            user("right. also a voucher is not a coupon with us, it stays on the invoice until the bank has paid"),
            edit("invoice.py", "voucher"),
            says("Vouchers stay on the invoice."),
        ),
        (fact("coupons.flush", "close()|timeout"), fact("voucher", "coupon", "bank")),
        most=2,
    ),
)

IDLE = (
    Situation(
        "tastes and hearsay before the work",
        session(
            user("hey, always answer me in two sentences and never use bold with me"),
            says("Sure."),
            user("my brother says we must never deploy without a canary, he works at an airline"),
            read("app/main.py"),
            search("def main", "app/main.py:3"),
            says("Sounds like an airline. `main()` starts the app."),
            user("i should sleep more, we always talk too late"),
            says("Good night."),
        ),
        most=0,
    ),
    Situation(
        "standing instructions after the work, with nothing to update",
        session(
            user("rename the button to Save"),
            edit("src/Form.tsx", "Save"),
            says("The button says Save."),
            user(
                "Only go ahead if you made code changes:\n\nUpdate notes/overview.md. Include:\n- What changed\n- Why "
                "it changed\n\nDon't keep it as a history. Instead, remove what has become obsolete.\n\nIf any "
                "settings are added or removed, update the samples accordingly."
            ),
            read("notes/overview.md"),
            edit("notes/overview.md", "Save"),
            says(
                "The overview is updated. No settings were added or removed, so `settings.sample.json` and the "
                "`deploy.yaml` workflow don't need updates."
            ),
        ),
        most=0,
    ),
    Situation(
        "a wish in the form of a question without its mark",
        session(
            user("add a share link to the page"),
            edit("src/share.ts", "copy()"),
            says("There is a share link."),
            user("can the message say 'Link copied' instead of 'Copied'"),
            edit("src/share.ts", "Link copied"),
            says("It says so now."),
        ),
        most=0,
    ),
    Situation(
        "how the work at hand came out",
        session(
            user("build the settings page"),
            edit("src/Settings.tsx", "<form>"),
            says("The settings page has a form."),
            user("the icons look too big now and the footer is still below the fold"),
            edit("src/settings.css", "icon 16px"),
            says("The icons are smaller."),
            user("no, the footer still shows a gap on the left"),
            edit("src/settings.css", "margin 0"),
            says("The gap is gone."),
        ),
        most=0,
    ),
)
