"""Sessions as people hold them: polite proposals, half sentences, feedback on the way, and models that think aloud."""

from __future__ import annotations

from tests.capture.sessions import edit, read, run, says, search, session, user
from tests.capture.situations import Situation, fact

SPOKEN = (
    Situation(
        "polite proposal with a reason",
        session(
            user("store the per-run metadata somewhere so we can look it up later"),
            edit("internal/meta/store.go", "metadata.json"),
            says("The metadata is written to `metadata.json` in the working directory."),
            user(
                "hm I think we should rather keep it in refs/meta, that way it never shows up in the user's diffs "
                "and gets pushed along"
            ),
            edit("internal/meta/store.go", "refs/meta"),
            run("go test ./...", "ok"),
            says("The metadata is stored as blobs below `refs/meta` now."),
        ),
        (fact("refs/meta", "diff|never|pushed"),),
        most=2,
    ),
    Situation(
        "objection to where something runs",
        session(
            user("check for updates when the cli starts"),
            edit("cmd/root.go", "checkForUpdate()"),
            says("`checkForUpdate()` runs in `PersistentPreRun` of the root command."),
            user("ok but this shouldn't run for hook subcommands, git waits for them and every commit gets slower"),
            edit("cmd/root.go", "if isHook"),
            says("Hook subcommands skip the update check now."),
        ),
        (fact("hook", "git waits|commit|slower"),),
        most=1,
    ),
    Situation(
        "a choice that the model explains",
        session(
            user("add locking to the state file, two sessions overwrite each other's data"),
            read("state/file.go"),
            edit("state/file.go", "flock"),
            run("go test ./state", "ok"),
            says(
                "Two sessions can no longer overwrite each other. I chose an advisory `flock` on a separate `.lock` "
                "file over locking `state.json` itself, because the file is replaced by `rename()` on each save and "
                "a lock "
                "would stay on the old inode."
            ),
        ),
        (fact("flock|lock", "rename|inode"),),
        most=2,
    ),
    Situation(
        "thinking aloud until it is found",
        session(
            user("the resume command picks the wrong session sometimes"),
            search("func latestSession", "session/find.go:12"),
            read("session/find.go"),
            says("Let me check how sessions are sorted."),
            read("session/sort.go"),
            says("Hmm, they are sorted by ModTime. Let me check whether ModTime is reliable here."),
            run("stat -c %Y sessions/*", "1700000000 1700000000"),
            says(
                "I see the problem now. `latestSession()` sorts by the file's modification time, but `git checkout` "
                "touches the files in arbitrary order, so after switching branches the newest mtime has nothing to "
                "do with the "
                "newest session. The id starts with a timestamp, so I'll sort by id instead."
            ),
            edit("session/find.go", "sort by id"),
            run("go test ./session", "ok"),
            says("Sessions are picked by id now. Tests pass."),
        ),
        (fact("latestsession|session", "modification time|mtime", "checkout|branch"),),
        most=2,
    ),
    Situation(
        "user explains a constraint while answering no",
        session(
            user("speed up the nightly backup"),
            read("backup.sh"),
            says("I could switch from `pg_dump` to `pg_basebackup`, that's about five times faster."),
            user("can't, the restore target runs on a different major version so it has to be a logical dump"),
            says("Then I'll use `pg_dump -j 4` with the directory format."),
            edit("backup.sh", "pg_dump -Fd -j 4"),
            says("The backup uses four parallel jobs now."),
        ),
        (fact("logical|dump", "major version|restore"),),
        most=2,
    ),
    Situation(
        "api behaves differently from its docs",
        session(
            user("our oauth login fails for some tenants"),
            run("curl -s https://idp/.well-known/openid-configuration", "issuer https://idp/{tenantid}/v2.0"),
            read("auth/verify.go"),
            says("The tokens are valid, only the issuer check fails."),
            says(
                "The discovery document of the multi-tenant endpoint has a literal `{tenantid}` placeholder in "
                "`issuer`. `go-oidc` compares it byte for byte, so every token of a concrete tenant is rejected. You "
                "need "
                "`oidc.InsecureIssuerURLContext` or one provider per tenant."
            ),
        ),
        (fact("issuer", "tenant", "placeholder|byte|rejected"),),
        most=1,
    ),
    Situation(
        "config precedence discovered",
        session(
            user("changing log_level in config.toml has no effect, what am I missing?"),
            run("grep -rn LOG_LEVEL .", "docker/.env:LOG_LEVEL=info"),
            read("src/settings.rs"),
            says(
                "`LOG_LEVEL` in `docker/.env` wins: environment variables are applied after `config.toml` in "
                "`Settings::load()`, so the file can never override them. Remove it there or set it in your shell."
            ),
        ),
        (fact("log_level", "environment|env", "override|after|wins"),),
        most=1,
    ),
    Situation(
        "warning about a test that proves nothing",
        session(
            user("are we sure that the retry test covers the timeout path?"),
            read("tests/test_retry.py"),
            run("pytest tests/test_retry.py --cov=retry --cov-report=term-missing", "retry.py 88% missing 41-47"),
            says(
                "No. `test_retry_on_timeout` patches `requests.get`, but `retry.py` does `from requests import get`, "
                "so the patch never takes effect and the test passes against the real function raising "
                "`ConnectionError`. "
                "Lines 41-47 are never executed."
            ),
        ),
        (fact("patch", "from requests import|never takes effect|import"),),
        most=1,
    ),
    Situation(
        "user names the single source of truth",
        session(
            user("add the new plan 'team' to the pricing logic"),
            edit("src/pricing.ts", "team: 49"),
            says("Added `team` with 49 EUR to `PRICES` in `pricing.ts`."),
            user("prices don't belong in code, stripe is the source of truth. read them with getPlans()"),
            edit("src/pricing.ts", "getPlans"),
            says("`PRICES` is gone, prices come from `getPlans()`."),
        ),
        (fact("price", "stripe", "source of truth|code"),),
        most=2,
    ),
    Situation(
        "build knowledge from a failing chain",
        session(
            user("build the arm image on this machine"),
            run("docker build --platform linux/arm64 .", "exec /bin/sh: exec format error", failed=True),
            run("docker run --privileged --rm tonistiigi/binfmt --install arm64", "installed"),
            run("docker build --platform linux/arm64 .", "exporting to image"),
            says(
                "The arm64 image is built. The host had no emulator registered, hence `exec format error`; "
                "`tonistiigi/binfmt --install arm64` has to run once after every reboot of the build host."
            ),
        ),
        (fact("binfmt|emulator", "exec format|reboot|arm64"),),
        most=2,
    ),
    Situation(
        "limits of a service met in production",
        session(
            user("why are some push notifications not delivered?"),
            run("grep -c MessageTooBig push.log", "1043"),
            read("push/payload.kt"),
            says(
                "APNs rejects payloads above 4096 bytes with `PayloadTooLarge`. Chat messages with a quoted reply "
                "exceed that: 1,043 of 1,050 failures in the log have a `quote` field. The other 7 are expired tokens."
            ),
        ),
        (fact("4096|payload", "quote|reply", "reject|exceed|1,043"),),
        most=1,
    ),
    Situation(
        "correct but slow: left as it is on purpose",
        session(
            user("this loop looks quadratic, can we fix it?"),
            read("match.py"),
            run("python bench_match.py", "n=500 12 ms"),
            says(
                "It is quadratic, but `match()` never sees more than 500 items, since `MAX_BATCH` caps the batch; at "
                "that size it takes 12 ms. A hash join would need stable keys, which the items don't have. I'd leave "
                "it."
            ),
            user("ok leave it"),
            says("Left as is."),
        ),
        (fact("match|quadratic", "500|max_batch", "12 ms|key|caps"),),
        most=2,
    ),
    Situation(
        "terse codex session with a user rule",
        session(
            user("make lint pass"),
            run("make lint", "error: unused exports: 12", failed=True),
            edit("src/index.ts", "removed exports"),
            says("Removed 12 unused exports from `src/index.ts`; `make lint` passes."),
            user(
                "those are public api, downstream repos import them. never remove exports from index.ts, add them to "
                ".unimportedrc instead"
            ),
            edit(".unimportedrc.json", "ignore"),
            says("Restored the exports and listed them in `.unimportedrc.json`."),
            host="codex",
        ),
        (fact("export", "index.ts|public api", "never|downstream"),),
        most=1,
        statuses=("confirmed",),
    ),
    Situation(
        "French correction",
        session(
            user("ajoute un champ date de naissance au formulaire"),
            edit("form.vue", "<input type=date>"),
            says("J'ai ajouté le champ `birthDate` au formulaire."),
            user(
                "non, il ne faut jamais stocker la date de naissance, seulement l'année, parce que la CNIL nous "
                "l'interdit"
            ),
            edit("form.vue", "<input type=number>"),
            says("Le champ demande maintenant l'année seulement."),
        ),
        (fact("naissance|année", "jamais|seulement|interdit"),),
        most=1,
        statuses=("confirmed",),
    ),
)

PASSING = (
    Situation(
        "polish on request",
        session(
            user("add a loading spinner to the list"),
            edit("List.tsx", "<Spinner/>"),
            says("Added a spinner that shows while `isLoading` is true."),
            user("can you make it smaller and center it?"),
            edit("List.tsx", "size=16"),
            says("The spinner is 16px now and centred."),
            user("nice, thanks"),
            says("You're welcome!"),
        ),
        most=0,
    ),
    Situation(
        "release chores",
        session(
            user("cut release 1.4.0"),
            run("git tag v1.4.0", ""),
            edit("CHANGELOG.md", "1.4.0"),
            run("git push --tags", "v1.4.0"),
            says(
                "Tagged and pushed `v1.4.0`. The changelog lists 12 changes since 1.3.2. The release workflow is "
                "running."
            ),
        ),
        most=0,
    ),
    Situation(
        "tests added and they pass",
        session(
            user("can we add tests for this?"),
            read("calc_test.go"),
            edit("calc_test.go", "TestAdd"),
            run("go test ./...", "ok"),
            says(
                "Done. Added 4 tests for `Add()`: zero, negative, overflow (returns an error instead of wrapping) "
                "and large inputs. All pass."
            ),
        ),
        most=0,
    ),
    Situation(
        "generated code with a description",
        session(
            user("write a python script that renames all files in a folder to lower case"),
            edit("rename.py", "os.rename"),
            says(
                "Here's `rename.py`. It walks the folder, skips files that are already lower case and never "
                "overwrites an existing file because it checks `os.path.exists` first. Run it with `python rename.py "
                "FOLDER`."
            ),
        ),
        most=0,
    ),
    Situation(
        "compile errors on the way",
        session(
            user("implement the Stringer interface for Status"),
            edit("status.go", "func (s Status) String()"),
            run("go build ./...", "status.go:9: missing return", failed=True),
            edit("status.go", "default:"),
            run("go build ./...", ""),
            says(
                "`Status` implements `Stringer` now. The first version didn't compile because the switch had no "
                "default case; that's fixed."
            ),
        ),
        most=0,
    ),
    Situation(
        "where something is configured",
        session(
            user("where is the port configured?"),
            search("PORT", "config/default.json"),
            says(
                "The port is set in `config/default.json` under `server.port` and can be overridden by the `PORT` "
                "environment variable."
            ),
        ),
        most=0,
    ),
)
