"""What the scan for secrets finds, and what it leaves alone; figures are printed with `-s`."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from commonwealth.curate import secrets
from commonwealth.curate.secret_rules import NAMED, SHAPED

from . import tokens

EACH = 20


def found(text: str) -> bool:
    return bool(secrets.scan(text, "body"))


def rate(texts: Iterable[str]) -> tuple[float, list[str]]:
    """Which share of `texts` is flagged, and those that are not."""
    every = list(texts)
    missed = [text for text in every if not found(text)]
    return 1 - len(missed) / len(every), missed


def password(chance: random.Random) -> str:
    alphabet = chance.choice((tokens.ALPHABETS["b62"], tokens.ALPHABETS["b62"] + "!@#%^&*-_+?"))
    while True:
        word = "".join(chance.choices(alphabet, k=chance.randint(10, 24)))
        if word[0].isalnum() and any(map(str.isdigit, word)):
            return word


def test_there_are_at_least_sixty_families() -> None:
    assert len(SHAPED) + len(NAMED) >= 100
    assert len(tokens.MARKED) + len(tokens.UNMARKED) >= 100


def test_tokens_of_every_family_are_found_in_context() -> None:
    chance = random.Random(20260701)
    misses = []
    families = {**tokens.MARKED, **tokens.UNMARKED}
    for name, shape in families.items():
        texts = [tokens.in_context(name, tokens.make(shape, chance), chance) for _ in range(EACH)]
        misses += [(name, text) for text in rate(texts)[1]]
    recall = 1 - len(misses) / (EACH * len(families))
    print(f"\nrecall in context, {len(families)} families: {recall:.2%}; missed: {misses[:10]}")
    assert recall >= 0.98


def test_tokens_with_a_mark_are_found_bare() -> None:
    chance = random.Random(20260702)
    poor = {}
    total = 0.0
    for name, shape in tokens.MARKED.items():
        share, _ = rate(tokens.make(shape, chance) for _ in range(EACH))
        total += share
        if share < 0.95:
            poor[name] = share
    print(f"\nrecall bare, {len(tokens.MARKED)} families: {total / len(tokens.MARKED):.2%}")
    assert not poor


def test_keys_beside_nothing_but_their_providers_name_are_found() -> None:
    chance = random.Random(20261204)
    texts = [
        tokens.beside(name, tokens.make(shape, chance), chance)
        for name, shape in tokens.BESIDE.items()
        for _ in range(EACH)
    ]
    share, missed = rate(texts)
    print(f"\nrecall beside a name, {len(tokens.BESIDE)} families: {share:.2%}; missed: {missed[:10]}")
    assert share >= 0.95


@pytest.mark.parametrize(
    "text",
    [
        "sentry: 5f1c2d3e4b5a69788796a5b4c3d2e1f001234567",  # a release is the name of a commit
        "Sentry release = 5f1c2d3e4b5a69788796a5b4c3d2e1f001234567",
        "datadog trace id: 4bf92f3577b34da6a3ce929d0e0e4736",
        "heroku request_id=01234567-89ab-4def-8123-456789abcdef",
        "discord client id: 777963226864802855",
        "vercel project: prj_name_of_the_project",
        "vercel: https://acme-shop-git-main.vercel.app/some/long/path1",
        "algolia index: products_production_v2",
        "The global = configurationvalue12345678",
        "netlify = process.env.NETLIFY_AUTH_TOKEN",
        "twitter: see docs/adr/0014-rules.md",
        "okta token: ${OKTA_TOKEN}",
        "plaid_key = your_plaid_key_goes_here",
        "kind: Secret\ndata:\n  password: <base64 of it>\n",
        "kind: Secret\nmetadata: {name: db}\nstringData:\n  password: ${DB_PASSWORD}\n",
        "kind: ConfigMap\ndata:\n  region: ZXUtd2VzdC0x\n  note: a secret is elsewhere\n",
    ],
)
def test_ids_and_pointers_beside_a_providers_name_are_left_alone(text: str) -> None:
    assert not found(text), secrets.scan(text, "body")


def test_the_values_of_a_clusters_secret_are_found_however_plain() -> None:
    chance = random.Random(20261205)
    words = ("hunter22", "sommer", "Tr0ub4dor&3", "letmeinplease", "p4ss", "correct horse battery")
    texts = [tokens.cluster_secret({"password": chance.choice(words), "user": "app"}, chance) for _ in range(100)]
    share, missed = rate(texts)
    print(f"\nrecall in manifests: {share:.2%}; missed: {missed[:3]}")
    assert share >= 0.98


def test_a_long_transcript_is_masked_whole() -> None:
    chance = random.Random(20261206)
    planted = []
    lines = []
    for number in range(6000):
        lines.append(
            json.dumps({"type": "user", "n": number, "content": f"I looked at file {number} and ran the tests."})
        )
        if number % 40 == 0:
            name = chance.choice(list(tokens.MARKED))
            planted.append(tokens.make(tokens.MARKED[name], chance))
            lines.append(json.dumps({"type": "tool", "output": f"export X={planted[-1]}\nok"}))
    shown = secrets.mask("\n".join(lines))
    assert len(lines) > 6000
    left = [token for token in planted if token in shown or token[len(token) // 2 :] in shown]
    assert left == []
    assert shown.count("I looked at file") == 6000


def framed(chance: random.Random) -> list[str]:
    header = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
    claims = json.dumps({"sub": tokens.make("{12:b62}", chance), "iat": chance.randint(10**9, 2 * 10**9)})
    payload = base64.urlsafe_b64encode(claims.encode()).decode().rstrip("=")
    key = tokens.private_key(chance.choice(("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")), chance)
    word = password(chance)
    basic = base64.b64encode(f"deploy:{word}".encode()).decode()
    scheme = chance.choice(("postgres", "mysql", "mongodb+srv", "redis", "amqp", "https", "ftp"))
    safe = word.replace("@", "x").replace("#", "y").replace("?", "z").replace("%", "w")
    return [
        key,
        json.dumps({"private_key": key}),
        f"{header}.{payload}.{tokens.make('{43:url}', chance)}",
        f"{scheme}://deploy:{safe}@db-{chance.randint(1, 9)}.acme.internal:5432/shop",
        f"Server=db.acme.internal;Database=shop;User Id=deploy;Password={safe};",
        f"jdbc:postgresql://db.acme.internal/shop?user=deploy&password={safe.replace('&', 'a')}",
        f"SMTP_PASSWORD={safe}",
        f"Authorization: Basic {basic}",
        f"curl -H 'Authorization: Bearer {tokens.make('{40:b62}', chance)}' https://api.acme.com",
        f"curl -s -u deploy:{safe} https://api.acme.com/v1/orders",
        f"curl -H 'X-Api-Key: {tokens.make('{32:hex}', chance)}' https://api.acme.com",
        f"machine acme.com login deploy password {safe}",
    ]


def test_keys_addresses_headers_and_commands_are_found() -> None:
    chance = random.Random(20260703)
    share, missed = rate(text for _ in range(40) for text in framed(chance))
    print(f"\nrecall of framed secrets: {share:.2%}; missed: {missed[:10]}")
    assert share >= 0.98


def generic(chance: random.Random, count: int) -> list[str]:
    """Passwords and keys of nobody in particular, as settings and sentences assign them."""
    forms: tuple[Callable[[str], str], ...] = (
        lambda word: f'password = "{word}"',
        lambda word: f"DB_PASSWORD={word}",
        lambda word: f"db:\n  user: app\n  password: {word}\n",
        lambda word: f'"clientSecret": "{word}",',
        lambda word: f"secret_key => '{word}'",
        lambda word: f"The admin password is `{word}`.",
        lambda word: f'const apiKey = "{word}";',
        lambda word: f"--password '{word}'",
        lambda word: f"<password>{word}</password>",
        lambda word: f'{{"name": "DB_PASSWORD", "value": "{word}"}}',
    )
    return [chance.choice(forms)(password(chance)) for _ in range(count)]


def test_generic_assignments_are_found() -> None:
    share, missed = rate(generic(random.Random(20260704), 500))
    print(f"\nrecall of generic assignments: {share:.2%}; missed: {missed[:20]}")
    assert share >= 0.85


def hidden(token: str, chance: random.Random) -> list[str]:
    middle = chance.randint(8, len(token) - 8)
    first, second = token[:middle], token[middle:]
    return [
        f"the value is\n{first}\\\n{second}\n",
        f'key = "{first}" +\n      "{second}"',
        f'key = ("{first}"\n       "{second}")',
        f"> {first}\n> {second}",
        base64.b64encode(token.encode()).decode(),
        "data: " + base64.b64encode(f"token={token}\n".encode()).decode(),
        base64.encodebytes(f"export TOKEN={token}\nexport REGION=eu-west-1\n".encode()).decode(),
        json.dumps({"type": "user", "content": f"here:\n{token}\nthanks"}),
        f"https://acme.com/login?next=%2F&state%3D{token}",
    ]


def test_values_split_over_lines_or_wrapped_in_base64_are_found() -> None:
    chance = random.Random(20260705)
    marked = [name for name, shape in tokens.MARKED.items() if shape[0] not in "{h" and "://" not in shape]
    texts = [
        text for name in marked for _ in range(3) for text in hidden(tokens.make(tokens.MARKED[name], chance), chance)
    ]
    share, missed = rate(texts)
    print(f"\nrecall of hidden values: {share:.2%} of {len(texts)}; missed: {missed[:10]}")
    assert share >= 0.80


def in_frontmatter(token: str) -> list[str]:
    """A token in fields of a note and in the name of a file."""
    return [
        f"---\nid: 2026-07-01-x-abcd2345\ntitle: {token}\ntags: [ci, '{token}']\n---\nbody\n",
        f"---\nprovenance:\n  evidence: [saw {token} in the log]\n---\n",
        f"notes/{token}.md" if "/" not in token else token,
    ]


def test_frontmatter_and_names_are_no_hiding_place() -> None:
    chance = random.Random(20260706)
    texts = [text for shape in tokens.MARKED.values() for text in in_frontmatter(tokens.make(shape, chance))]
    share, missed = rate(texts)
    print(f"\nrecall in frontmatter and names: {share:.2%}; missed: {missed[:10]}")
    assert share >= 0.98


def harmless(chance: random.Random) -> list[str]:
    seed = chance.randbytes(16)
    sha1, sha256 = hashlib.sha1(seed).hexdigest(), hashlib.sha256(seed).hexdigest()
    sri = base64.b64encode(hashlib.sha512(seed).digest()).decode()
    ident = uuid.UUID(bytes=seed, version=4)
    image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + chance.randbytes(600)).decode()
    return [
        f"Fixed in {sha1}.",
        f"commit {sha1}\nAuthor: Alice\n\n    Rotate the token of the deploy key\n",
        f"See `{sha1[:7]}..{sha1[8:15]}` for the password reset.",
        f"sha256:{sha256}",
        f'"integrity": "sha512-{sri}"',
        f"requests==2.32.0 --hash=sha256:{sha256}",
        f"h1:{base64.b64encode(hashlib.sha256(seed).digest()).decode()}",
        f"md5 {hashlib.md5(seed).hexdigest()}  release.tar.gz",
        f"request id {ident}",
        f"The user {ident} lost the session.",
        f"![plot](data:image/png;base64,{image})",
        f"image: registry.acme.com/shop@sha256:{sha256}",
        'password = "<your password>"',
        "token: ${GITHUB_TOKEN}",
        "api_key = os.environ['API_KEY']",
        "secret = get_secret('prod/db')",
        "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
        "password: changeme",
        f"password_hash: $2b$12${tokens.make('{53:b62}', chance)}",
        "export TOKEN=$(vault read -field=token secret/ci)",
        "postgres://user:password@localhost:5432/app",
        "Authorization: Bearer <token>",
        "token = response.json()['access_token']",
        'const secret = process.env.SESSION_SECRET ?? "dev-only-secret";',
        f"The token bucket refills {chance.randint(1, 900)} times a second; the key is the user id.",
        "password: {{ vault_db_password }}",
        f"idempotency key {ident} was used twice",
        f"cache key: {sha256}",
        f"2026-07-01-{chance.choice(('token', 'password'))}-rotation-{tokens.make('{8:b36}', chance)}",
        f"etag token {sha1}",
    ]


def test_hashes_ids_digests_and_placeholders_are_left_alone() -> None:
    chance = random.Random(20260707)
    texts = [text for _ in range(50) for text in harmless(chance)]
    flagged = [(text, secrets.scan(text, "body")[0].rule) for text in texts if found(text)]
    print(f"\nfalse positives: {len(flagged)} of {len(texts)}; {flagged[:10]}")
    assert len(flagged) <= 0.005 * len(texts)


def test_notes_of_real_developers_are_left_alone(shared: Path) -> None:
    flagged, total = [], 0
    for folder in (
        "til-jbranchaud",
        "adr-govuk-aws",
        "adr-madr",
        "memory-mnemonic",
        "memory-recommendarr",
        "obsidian-kepano",
    ):
        for path in sorted((shared / "corpora" / folder).rglob("*.md")):
            total += 1
            findings = secrets.scan(path.read_text(encoding="utf-8"), path.name)
            flagged += [(path.name, finding.rule) for finding in findings]
    print(f"\nflagged: {len(flagged)} of {total} notes: {flagged}")
    assert total > 1000
    assert len({name for name, _ in flagged}) <= 0.003 * total


def test_a_finding_names_rule_and_line_and_never_the_value() -> None:
    chance = random.Random(20260708)
    for shape in tokens.MARKED.values():
        token = tokens.make(shape, chance)
        findings = secrets.scan(f"# Title\n\nThe value {token} was in the log.\n", "body")
        assert findings, shape
        assert {finding.where for finding in findings} == {"body, line 3"}
        assert token not in repr(findings)
    named = tokens.make("ghp_{36:b62}", chance)
    again = secrets.scan(f"token {named}", f"memory/{named}.md")
    assert again
    assert named not in repr(again)


@pytest.mark.parametrize(
    "token",
    [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "ghp_qwertyuiopasdfghjklzxcvbnmqwertyuiop",
        "ghp_" + "abcd" * 9,
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "AKIA" + "1234567890123456",
        "sk-" + "abcdefghijklmnopqrstuvwxyz123456",
        "glpat-" + "abcdefghij1234567890",
        "xoxb-" + "123456789012-abcdefghijklmnop",
        "AIza" + "abcdefghijklmnopqrstuvwxyz012345678",
        "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
        "sk_live_" + "foobarfoobarfoobarfoobar12",
        "hf_" + "deadbeefdeadbeefdeadbeefdeadbeefde",
    ],
)
def test_a_value_of_the_exact_shape_is_refused_however_it_looks(token: str) -> None:
    assert found(token)
    assert found(f"Use `{token}` to publish.")


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "ghp_" + "0" * 36,
        "ghp_" + "xX0" * 12,
        "ghp_yourtokenhereyourtokenhereyourtoken1",
        "sk_test_replacemewithyourkey1234",
        "xoxb-your-token-goes-here-please",
        "glpat-<twenty characters of your own>",
        "ghp_{token}",
        "ghp_abc...xyz",
        "hvs.some_engine_mount_path_name",
    ],
)
def test_what_clearly_stands_for_a_token_is_left_alone(text: str) -> None:
    assert not found(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: correcthorsebatterystaple",
        "db password is correcthorse99",
        "The db password is `correcthorse99`.",
        "DB_PASSWORD=correcthorsebatterystaple",
        'password = "summerholiday2024"',
        "- **password**: correcthorsebatterystaple",
    ],
)
def test_a_password_of_plain_words_is_found_where_a_line_says_only_that(text: str) -> None:
    assert found(f"# Access\n\n{text}\n\nMore.\n")


@pytest.mark.parametrize(
    "text",
    [
        "password: required",
        "password: postgres123",
        "The password is sha256 hashed.",
        "The password is transmitted over the wire.",
        "password: yourpasswordgoeshere",
        "passwordless: authenticationprovider",
        "password = generatetemporarypassword()",
        "Bypass: understandablyconfusing",
        "The password was internationalised99 times.",
        "password_field: temporarypasswordfieldname is the name",
    ],
)
def test_plain_words_near_a_password_are_left_alone(text: str) -> None:
    assert not found(text)


def test_mask_takes_every_value_out_and_leaves_the_rest() -> None:
    chance = random.Random(20260709)
    token, word = tokens.make("glpat-{20:b62}", chance), "Tr0" + tokens.make("{12:b62}", chance)
    shown = secrets.mask(f"push https://bob:{word}@git.acme.com/x failed for {token}: retry")
    assert shown == "push https://bob:[secret]@git.acme.com/x failed for [secret]: retry"
    assert secrets.mask("nothing here") == "nothing here"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "é" * 3000,
        "İ" * 50 + " password = 'Xk29fj20Zq1m'",
        "=" * 5000,
        "key" * 5000,
        '"' * 4000,
        "a" * 300_000,
    ],
)
def test_odd_text_is_scanned_without_trouble(text: str) -> None:
    assert isinstance(secrets.scan(text, "body"), list)


@pytest.mark.parametrize(
    "piece",
    [
        "eyJ",
        "-us1",
        "pass: ",
        "token ",
        '" + "',
        "://a:b@",
        "a1B2" * 40 + "\n",
        "MNO.",
        "curl -u a:b ",
        "sk-",
        "BEGIN PRIVATE KEY-----",
    ],
)
def test_long_repetitions_are_scanned_to_the_end(piece: str) -> None:
    text = (piece * (200_000 // len(piece) + 1))[:200_000]
    token = tokens.make("ghp_{36:b62}", random.Random(20260710))
    assert secrets.scan(f"{text}\n\n{token}\n", "body")[-1].rule == "github-token"
