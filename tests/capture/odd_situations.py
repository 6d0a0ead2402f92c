"""Sessions in other shapes: emoji headings, lists of causes, reviews by severity, other scripts, rejected plans."""

from __future__ import annotations

from tests.capture.sessions import answer, edit, plan, read, refusal, run, says, search, session, user
from tests.capture.situations import Situation, fact

ODD = (
    Situation(
        "emoji headings and before and after",
        session(
            user("docker build takes 11 minutes in CI, please optimise"),
            read("Dockerfile"),
            edit("Dockerfile", "COPY package.json"),
            run("time docker build .", "real 2m4s"),
            says(
                "## 🚀 Docker build optimised\n\n### 🔍 What was wrong\n\n- **Layer order**: `COPY . .` came before "
                "`npm ci`, so every source change threw away the dependency layer\n"
                "- **Context size**: `.git` and `node_modules` were sent to the daemon (1.4 GB) since there was no "
                "`.dockerignore`\n\n### ✅ Result\n\nBuild time went from 11 min to 2 min 4 s.\n\n"
                "### 📁 Changed files\n\n- `Dockerfile`\n- `.dockerignore`"
            ),
        ),
        (fact("copy . .|layer|.dockerignore", "npm ci|dependency|1.4 gb|2 min"),),
        most=2,
    ),
    Situation(
        "numbered causes in one answer",
        session(
            user("Why is the mobile app's battery usage so high? Analyse it."),
            run("adb shell dumpsys batterystats", "Wake lock LocationSvc 4h 12m"),
            read("app/LocationSvc.kt"),
            says(
                "Two things drain the battery:\n\n1. **`LocationSvc` keeps a partial wake lock** - it acquires the "
                "lock in `onCreate()` but releases it only in `onDestroy()`, and a foreground service is practically "
                "never "
                "destroyed. That accounts for 4 h 12 min of wake time a day.\n2. **GPS priority is `HIGH_ACCURACY`** "
                "- geofences of 200 m don't need it; `BALANCED` uses cell and Wi-Fi only.\n"
            ),
        ),
        (fact("wake lock", "ondestroy|release", "locationsvc|foreground"),),
        most=2,
    ),
    Situation(
        "root cause said in the middle, short end",
        session(
            user("emails with umlauts in the subject arrive garbled"),
            run("python send_test.py 'Grüße'", "Subject: GrÃ¼ÃŸe"),
            search("Subject", "mailer/smtp.py"),
            says(
                "Root cause: `smtp.py` writes the subject as raw UTF-8 bytes. Headers must be RFC 2047 encoded; "
                "most servers pass raw bytes through but Exchange decodes them as Latin-1."
            ),
            edit("mailer/smtp.py", "Header(subject, 'utf-8')"),
            run("python send_test.py 'Grüße'", "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?="),
            says("Done, subjects are encoded now."),
        ),
        (fact("subject|header", "rfc 2047|raw", "exchange|latin-1|utf-8"),),
        most=1,
    ),
    Situation(
        "a Chinese session",
        session(
            user("为什么登录接口偶尔返回 502?"),
            read("nginx.conf"),
            run("grep upstream error.log", "upstream prematurely closed connection"),
            says(
                "原因是 `keepalive_timeout` 不一致:nginx 的上游连接保持 60 秒,而 Node 的 "
                "`server.keepAliveTimeout` 默认只有 5 秒,所以 "
                "nginx 会复用已经被 Node 关闭的连接。把 Node 的超时设为 65 秒即可。"
            ),
            edit("server.js", "server.keepAliveTimeout = 65000"),
            says("已修复。"),
        ),
        (fact("keepalive", "5 秒|60 秒|node"),),
        most=1,
    ),
    Situation(
        "user rejects the plan and says what to do instead",
        session(
            user("plan the migration of the job queue to kafka"),
            read("jobs/queue.py"),
            says("The plan moves all job types to Kafka topics with one consumer group per type."),
            plan("# Migration\nMove all jobs to Kafka", approved=False),
            refusal(
                "don't move the delayed jobs, kafka has no delayed delivery. they have to stay on sqs",
                of="ExitPlanMode: # Migration",
            ),
            says("Understood, delayed jobs stay on SQS."),
            plan("# Migration\nMove immediate jobs to Kafka, delayed jobs stay on SQS", approved=True),
            edit("jobs/kafka.py", "…"),
            says("The producer for immediate jobs is in place."),
        ),
        (fact("delayed", "kafka", "sqs|no delayed"),),
        most=2,
    ),
    Situation(
        "review by severity with a run that shows it",
        session(
            user("do a security review of the upload handler"),
            read("upload.php"),
            run('php -r "var_dump(preg_match(\'/\\.jpg$/\', \\"x.php\\n.jpg\\"));"', "int(1)"),
            says(
                "### High\n\n`upload.php` checks the extension with `preg_match('/\\.jpg$/')`. In PCRE `$` also "
                "matches before a trailing newline and the name is not normalised, so `x.php%0A.jpg` passes the "
                "check and "
                "is stored with a `.php` prefix that Apache executes because of `AddHandler`.\n\n### Low\n\n- "
                "Consider adding a size limit\n- Consider logging failed uploads"
            ),
        ),
        (fact("upload.php|extension", "newline|$", "execut|passes|stored"),),
        ("size limit",),
        1,
    ),
    Situation(
        "the model is wrong about an api and says so",
        session(
            user("use the bulk endpoint of the crm to update contacts"),
            edit("crm.py", "PATCH /contacts/bulk"),
            run("python crm.py --dry-run=false --limit 2", "405 Method Not Allowed", failed=True),
            says(
                "I was wrong: the CRM has no `PATCH /contacts/bulk`. Bulk updates go through `POST /imports` with "
                "`mode=update`, and the job is asynchronous, so the result has to be polled."
            ),
            edit("crm.py", "POST /imports"),
            run("python crm.py --limit 2", "import 7 done"),
            says("The update runs through `POST /imports` and polls until the import is done."),
        ),
        (fact("/imports", "bulk|asynchron|polled|poll"),),
        most=2,
    ),
    Situation(
        "user gives a hint that leads to the cause",
        session(
            user("the e2e login test fails since yesterday"),
            run("npx cypress run --spec login", "Timed out retrying: expected /dashboard", failed=True),
            says("The page stays on `/login`. Maybe the credentials changed."),
            user("credentials are fine. we enabled the WAF yesterday, it challenges headless browsers"),
            run("curl -A HeadlessChrome -I https://stage/login", "HTTP/2 403 x-waf: challenge"),
            says(
                "Confirmed: requests with a `HeadlessChrome` user agent get a 403 with `x-waf: challenge` from "
                "staging. The WAF needs an allow rule for the CI egress addresses, or the tests must set another "
                "user agent."
            ),
        ),
        (fact("waf", "headless", "403|challenge"),),
        most=2,
        statuses=("confirmed", "observed", "decision"),
    ),
    Situation(
        "numbers that contradict a belief",
        session(
            user("everybody says that compression makes our api slower. is it true?"),
            run("wrk -c 50 http://localhost/items", "Requests/sec: 812"),
            run("wrk -c 50 -H 'Accept-Encoding: gzip' http://localhost/items", "Requests/sec: 1190"),
            says(
                "It's the other way round here: with gzip the API serves 1,190 requests/s against 812 without, "
                "since the responses (180 KB of JSON) are limited by the network and not by the CPU."
            ),
        ),
        (fact("gzip|compress", "1,190|812", "network|cpu"),),
        most=1,
    ),
    Situation(
        "decisions by answers with options",
        session(
            user("let's add feature flags"),
            answer(
                "How should flags be evaluated: on the server or in the client?",
                "On the server, the client must not see unreleased flags",
            ),
            answer("Should I create the PR now?", "Yes"),
            edit("flags/server.py", "…"),
            says("Flags are evaluated on the server."),
        ),
        (fact("server", "unreleased|flags", "client"),),
        ("create the pr",),
        1,
        ("decision",),
    ),
    Situation(
        "a script's order of steps matters",
        session(
            user("the seed script fails on a fresh database, but works on mine"),
            run(
                "make reset seed",
                'ERROR: insert or update on table "orders" violates foreign key constraint',
                failed=True,
            ),
            read("seed/main.rb"),
            says(
                "On a fresh database `seed/main.rb` loads `orders.yml` before `customers.yml`, because `Dir.glob` "
                "returns names in the order of the file system (ext4 hashes them, APFS sorts them). It only worked "
                "locally "
                "by luck."
            ),
            edit("seed/main.rb", "Dir.glob.sort"),
            run("make reset seed", "ok"),
            says(
                "`Dir.glob(...).sort` fixes it; I also prefixed the files with numbers so that the order is explicit."
            ),
        ),
        (fact("dir.glob", "order|sort", "file system|ext4|fresh"),),
        most=2,
    ),
    Situation(
        "compatibility promise stated by the user",
        session(
            user("simplify the config schema, drop the old `proxy_url` key"),
            edit("schema.json", "-proxy_url"),
            says("Removed `proxy_url` from the schema."),
            user(
                "wait, keep reading it for now. our SLA says that config keys live for 12 months after deprecation, "
                "and we deprecated it in march"
            ),
            edit("schema.json", "proxy_url deprecated"),
            says("`proxy_url` is accepted again and logs a deprecation warning."),
        ),
        (fact("12 months|sla", "deprecat", "key|config"),),
        most=1,
        statuses=("confirmed",),
    ),
)

EMPTY = (
    Situation(
        "architecture overview on request",
        session(
            user("give me an overview of this repo"),
            read("README.md"),
            read("src/index.ts"),
            says(
                "This is a TypeScript monorepo:\n\n- **`packages/core`** - domain logic\n- **`packages/web`** - the "
                "Next.js front end\n- **`packages/cli`** - a small CLI built with commander\n\nTests run with "
                "vitest, builds with turbo."
            ),
        ),
        most=0,
    ),
    Situation(
        "naming ideas",
        session(
            user("what's a good name for a class that retries http calls?"),
            says(
                "`RetryingHttpClient` says it best, because it names both what it does and what it wraps. "
                "Alternatives: `ResilientClient`, `BackoffTransport`."
            ),
        ),
        most=0,
    ),
    Situation(
        "brainstorm without a result",
        session(
            user("ideas for onboarding new users?"),
            says(
                "A few ideas:\n1. A checklist in the dashboard, since it shows progress\n2. Sample data so that "
                "nobody starts with an empty page\n3. A short product tour\n\nWhich of these fits your product?"
            ),
            user("hm, not sure yet. thanks"),
            says("Sure, take your time."),
        ),
        most=0,
    ),
    Situation(
        "permission asked and given",
        session(
            user("delete the old branches"),
            run("git branch --merged", "a b c"),
            says("These three branches are merged: a, b, c. Should I delete them?"),
            user("yes"),
            run("git branch -d a b c", "deleted"),
            says("Deleted all three."),
        ),
        most=0,
    ),
    Situation(
        "a long plan that nobody approved",
        session(
            user("how would you approach the rewrite of the billing module?"),
            read("billing/__init__.py"),
            says(
                "I'd go in three steps:\n\n1. **Characterise** the present behaviour with golden tests, because "
                "nobody knows all the rules\n2. **Extract** `TaxRules` so that it can be replaced\n3. **Replace** "
                "the calculation behind a flag\n\n"
                "We should do it in small PRs. Shall I start with step 1?"
            ),
        ),
        most=0,
    ),
    Situation(
        "pasted text of a ticket and plain work",
        session(
            user(
                "Implement this ticket:\n\nAs a user I want to reset my password so that I can log in again when I "
                "forgot it.\n\nAcceptance criteria:\n- A link is sent by mail\n- The link must expire after 30 "
                "minutes\n- The page must show an error when the link is invalid"
            ),
            edit("auth/reset.py", "…"),
            run("pytest auth", "9 passed"),
            says(
                "Password reset is implemented: the mail contains a signed link that expires after 30 minutes, and "
                "invalid links show an error page. Tests cover all three criteria."
            ),
        ),
        most=0,
    ),
)
