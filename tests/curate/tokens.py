"""Makes credentials of every family at test time: none is ever written down here.

A shape is text with fields: `{36:b62}` is 36 characters of the alphabet `b62`, `{20-30:word}` 20 to 30.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string

_LOWER, _UPPER, _DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALPHABETS = {
    "b62": _LOWER + _UPPER + _DIGITS,
    "b64": _LOWER + _UPPER + _DIGITS + "+/",
    "url": _LOWER + _UPPER + _DIGITS + "-_",
    "b36": _LOWER + _DIGITS,
    "B36": _UPPER + _DIGITS,
    "b32": _UPPER + "234567",
    "l32": _LOWER + "234567",
    "hex": _DIGITS + "abcdef",
    "HEX": _DIGITS + "ABCDEF",
    "num": _DIGITS,
    "abc": _LOWER + _UPPER,
}
_FIELD = re.compile(r"\{(\d+)(?:-(\d+))?:(\w+)\}")
_UUID = "{8:hex}-{4:hex}-{4:hex}-{4:hex}-{12:hex}"

# families whose tokens have a fixed prefix or another mark of their own
MARKED = {
    "aws-access-key": "AKIA{16:b32}",
    "aws-session-key": "ASIA{16:b32}",
    "google-api-key": "AIza{35:url}",
    "google-oauth-secret": "GOCSPX-{28:url}",
    "google-access-token": "ya29.{80:url}",
    "azure-client-secret": "{3:b62}8Q~{34:b62}",
    "azure-account-key": "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={86:b64}==",
    "azure-shared-access-key": "Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKey={43:b64}=",
    "azure-devops-token": "{76:b62}AZDO{4:b62}",
    "alibaba-access-key": "LTAI{20:b62}",
    "tencent-secret-id": "AKID{32:b62}",
    "yandex-token": "AQVN{36:url}",
    "digitalocean-token": "dop_v1_{64:hex}",
    "heroku-key": "HRKU-AA{58:url}",
    "flyio-token": "fo1_{43:url}",
    "netlify-token": "nfp_{36:b62}",
    "vercel-token": "vcp_{52:b62}",
    "render-key": "rnd_{28:b62}",
    "deno-token": "ddp_{36:b62}",
    "tailscale-key": "tskey-auth-k{11:b62}-{32:b62}",
    "openshift-token": "sha256~{43:url}",
    "aiven-password": "AVNS_{19:url}",
    "github-token": "ghp_{36:b62}",
    "github-oauth": "gho_{36:b62}",
    "github-server": "ghs_{36:b62}",
    "github-refresh": "ghr_{76:b62}",
    "github-fine-grained": "github_pat_{22:b62}_{59:b62}",
    "gitlab-token": "glpat-{20:url}",
    "gitlab-deploy": "gldt-{20:url}",
    "gitlab-runner": "glrt-{20:url}",
    "gitlab-registration": "GR1348941{20:url}",
    "bitbucket-password": "ATBB{32:b62}",
    "atlassian-token": "ATATT3xFfGF0{170:url}={8:HEX}",
    "npm-token": "npm_{36:b62}",
    "pypi-token": "pypi-AgEIcHlwaS5vcmc{120:url}",
    "rubygems-key": "rubygems_{48:hex}",
    "crates-token": "cio{32:b62}",
    "nuget-key": "oy2{43:b36}",
    "clojars-token": "CLOJARS_{60:b36}",
    "docker-token": "dckr_pat_{27:url}",
    "jfrog-key": "AKCp{69:b62}",
    "buildkite-token": "bkua_{40:hex}",
    "circleci-token": "CCIPAT_{22:b62}_{40:hex}",
    "terraform-token": "{14:b62}.atlasv1.{67:url}",
    "pulumi-token": "pul-{40:hex}",
    "doppler-token": "dp.pt.{43:b62}",
    "doppler-service": "dp.st.dev_config.{43:b62}",
    "vault-token": "hvs.{90:url}",
    "age-secret-key": "AGE-SECRET-KEY-1{58:B36}",
    "onepassword-secret-key": "A3-{6:B36}-{11:B36}-{5:B36}-{5:B36}-{5:B36}",
    "sonarqube-token": "sqp_{40:hex}",
    "sourcegraph-token": "sgp_{16:hex}_{40:hex}",
    "octopus-key": "API-{26:B36}",
    "infracost-key": "ico-{32:b62}",
    "harness-token": "pat.{22:url}.{24:hex}.{20:b62}",
    "postman-key": "PMAK-{24:hex}-{34:hex}",
    "prefect-key": "pnu_{36:b36}",
    "readme-key": "rdme_{70:b36}",
    "openai-key": "sk-{48:b62}",
    "openai-legacy": "sk-{20:b62}T3BlbkFJ{20:b62}",
    "openai-project": "sk-proj-{74:url}T3BlbkFJ{74:url}",
    "openai-service": "sk-svcacct-{58:url}T3BlbkFJ{58:url}",
    "anthropic-key": "sk-ant-api03-{93:url}AA",
    "anthropic-oauth": "sk-ant-oat01-{93:url}AA",
    "openrouter-key": "sk-or-v1-{64:hex}",
    "hugging-face-token": "hf_{34:abc}",
    "replicate-token": "r8_{37:b62}",
    "groq-key": "gsk_{52:b62}",
    "perplexity-key": "pplx-{48:b62}",
    "xai-key": "xai-{80:b62}",
    "langsmith-key": "lsv2_pt_{32:hex}_{10:hex}",
    "elevenlabs-key": "sk_{48:hex}",
    "databricks-token": "dapi{32:hex}",
    "airtable-token": "pat{14:b62}.{64:hex}",
    "supabase-token": "sbp_{40:hex}",
    "supabase-secret": "sb_secret_{31:url}",
    "planetscale-token": "pscale_tkn_{43:url}",
    "planetscale-password": "pscale_pw_{43:url}",
    "neon-key": "napi_{64:b36}",
    "dropbox-token": "sl.{136:url}",
    "mapbox-secret": "sk.eyJ1{80:b62}.{22:b62}",
    "contentful-token": "CFPAT-{43:url}",
    "adafruit-key": "aio_{28:b62}",
    "slack-bot": "xoxb-{12:num}-{12:num}-{24:b62}",
    "slack-user": "xoxp-{12:num}-{12:num}-{12:num}-{32:hex}",
    "slack-app": "xapp-1-A{10:B36}-{13:num}-{64:hex}",
    "slack-webhook": "https://hooks.slack.com/services/T{10:B36}/B{10:B36}/{24:b62}",
    "discord-token": "M{25:b62}.{6:b62}.{38:url}",
    "discord-webhook": "https://discord.com/api/webhooks/{18:num}/{68:url}",
    "teams-webhook": f"https://acme.webhook.office.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/{{32:hex}}/{_UUID}",
    "telegram-token": "{9:num}:AA{33:url}",
    "stripe-key": "sk_live_{24:b62}",
    "stripe-long": "sk_live_{99:b62}",
    "stripe-restricted": "rk_live_{24:b62}",
    "webhook-secret": "whsec_{32:b64}",
    "square-token": "sq0atp-{22:url}",
    "square-access": "EAAA{60:url}",
    "shopify-token": "shpat_{32:hex}",
    "shopify-secret": "shpss_{32:hex}",
    "braintree-token": "access_token$production${16:b36}${32:hex}",
    "plaid-token": f"access-production-{_UUID}",
    "flutterwave-key": "FLWSECK-{32:hex}-X",
    "easypost-key": "EZAK{54:b62}",
    "duffel-token": "duffel_live_{43:url}",
    "shippo-token": "shippo_live_{40:hex}",
    "twilio-key": "SK{32:hex}",
    "sendgrid-key": "SG.{22:url}.{43:url}",
    "mailgun-key": "key-{32:hex}",
    "mailchimp-key": "{32:hex}-us{2:num}",
    "brevo-key": "xkeysib-{64:hex}-{16:b62}",
    "resend-key": "re_{8:b62}_{24:b62}",
    "facebook-token": "EAAC{150:b62}",
    "asana-token": "1/{16:num}:{32:hex}",
    "linear-key": "lin_api_{40:b62}",
    "notion-token": "ntn_{46:b62}",
    "notion-legacy": "secret_{43:b62}",
    "figma-token": "figd_{40:url}",
    "typeform-token": "tfp_{44:url}_{14:url}",
    "hubspot-token": f"pat-na1-{_UUID}",
    "new-relic-key": "NRAK-{27:B36}",
    "new-relic-license": "{36:hex}NRAL",
    "sentry-token": "sntrys_eyJ{100:b62}={43:b64}",
    "sentry-user": "sntryu_{64:hex}",
    "grafana-service": "glsa_{32:b62}_{8:hex}",
    "grafana-cloud": "glc_eyJ{80:b64}",
    "dynatrace-token": "dt0c01.{24:b32}.{64:b32}",
    "posthog-key": "phx_{43:b62}",
    "launchdarkly-key": f"sdk-{_UUID}",
    "cloudflare-origin": "v1.0-{24:hex}-{146:hex}",
    "aws-bedrock-short": "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{80:b62}",
    "clickhouse-key": "4b1dX{37:b62}",
    "jfrog-reference": "cmVmd{59:b62}",
    "gitlab-session": "_gitlab_session={32:b36}",
    "vault-legacy": "s.7{23:b62}",
    "yandex-iam": "t1.{12:url}.{86:url}",
    "facebook-app": "{16:num}|{27:url}",
    "settlemint-token": "sm_pat_{16:b62}",
    "defined-networking-key": "dnkey-{26:url}-{52:url}",
    "intra42-secret": "s-s4t2ud-{64:hex}",
    "authress-key": "sc_{12:b36}.{5:b36}.acc-{20:b36}.{60:b64}",
    "lob-key": "live_{35:hex}",
    "stripe-short": "sk_test_4{11:b62}",
}

# families that only the provider's name gives away
UNMARKED = {
    "AWS secret access": "{40:b64}",
    "Azure DevOps": "{52:l32}",
    "Heroku": _UUID,
    "Cloudflare": "{40:url}",
    "Datadog": "{32:hex}",
    "Datadog app": "{40:hex}",
    "Fastly": "{32:url}",
    "Algolia": "{32:hex}",
    "Okta": "00{40:url}",
    "Twilio auth": "{32:hex}",
    "Vercel": "{24:b62}",
    "Netlify": "{43:url}",
    "Snyk": _UUID,
    "Travis": "{22:b62}",
    "Wandb": "{40:hex}",
    "Cohere": "{40:b62}",
    "Mistral": "{32:b62}",
    "Postmark": _UUID,
    "PagerDuty": "{20:url}",
    "Rollbar": "{32:hex}",
    "Bitbucket": "{32:b62}",
    "Facebook": "{32:hex}",
    "Mailgun": "{32:hex}-{8:hex}-{8:hex}",
    "Confluent": "{64:b64}",
    "Gitea": "{40:hex}",
    "Airtable": "{17:b36}",
    "Asana": "{32:b36}",
    "Atlassian": "{24:b36}",
    "Codecov": "{32:b36}",
    "Coinbase": "{64:url}",
    "Droneci": "{32:b36}",
    "Etsy": "{24:b36}",
    "Finnhub": "{20:b36}",
    "Flickr": "{32:b36}",
    "Gitter": "{40:b36}",
    "Hubspot": _UUID,
    "Intercom": "{60:url}",
    "Kraken": "{80:b64}",
    "Kucoin": _UUID,
    "Launchdarkly": "{40:url}",
    "Linkedin": "{16:b36}",
    "Looker": "{24:b36}",
    "Mattermost": "{26:b36}",
    "Meraki": "{40:hex}",
    "Messagebird": "{25:b36}",
    "Plaid": "{30:b36}",
    "Rapidapi": "{50:url}",
    "Sendbird": "{40:hex}",
    "Sentry": "{64:hex}",
    "Squarespace": _UUID,
    "Sumologic": "{64:b36}",
    "Twitch": "{30:b36}",
    "Twitter": "{50:b36}",
    "Twitter access": "{19:num}-{40:b62}",
    "Yandex": "YC{38:url}",
    "Zendesk": "{40:b36}",
}

# families that stand beside their provider's name without any word for a credential
BESIDE = {
    name: shape
    for name, shape in UNMARKED.items()
    if name
    in {
        "Airtable",
        "Asana",
        "Codecov",
        "Coinbase",
        "Datadog",
        "Etsy",
        "Finnhub",
        "Flickr",
        "Heroku",
        "Hubspot",
        "Intercom",
        "Kraken",
        "Launchdarkly",
        "Looker",
        "Mattermost",
        "Meraki",
        "Netlify",
        "Plaid",
        "Rollbar",
        "Sendbird",
        "Sentry",
        "Squarespace",
        "Sumologic",
        "Twitch",
        "Zendesk",
    }
}


def make(shape: str, chance: random.Random) -> str:
    """One token of a shape."""

    def fill(field: re.Match[str]) -> str:
        size = chance.randint(int(field[1]), int(field[2] or field[1]))
        return "".join(chance.choices(ALPHABETS[field[3]], k=size))

    return _FIELD.sub(fill, shape)


def in_context(name: str, token: str, chance: random.Random) -> str:
    """A sentence or line of a note in which a token of provider `name` stands."""
    provider = re.split("[- ]", name, maxsplit=1)[0].capitalize()
    return chance.choice(
        (
            f'{provider} token = "{token}"',
            f"{provider.lower()}_api_key: {token}",
            f"export {provider.upper()}_TOKEN={token}",
            f"The {provider} API key is `{token}`, found in the CI log.",
            f'{{"{provider.lower()}": {{"secret": "{token}"}}}}',
        )
    )


def beside(name: str, token: str, chance: random.Random) -> str:
    """A line of settings in which nothing but the provider's name says what the token is."""
    word = chance.choice((name.lower(), name.upper(), name, f"{name.lower()}_prod", f"my_{name.lower()}"))
    return chance.choice(
        (f"{word}={token}", f"{word}: {token}", f'{word} = "{token}"', f"'{word}': '{token}'", f"{word} => '{token}'")
    )


def cluster_secret(words: dict[str, str], chance: random.Random) -> str:
    """A cluster's Secret manifest, of YAML or JSON, with base64 values."""
    data = {name: base64.b64encode(word.encode()).decode() for name, word in words.items()}
    if chance.random() < 0.3:
        return json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "data": data})
    lines = "".join(f"  {name}: {value}\n" for name, value in data.items())
    head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n"
    return chance.choice((f"{head}type: Opaque\ndata:\n{lines}", f"apiVersion: v1\ndata:\n{lines}kind: Secret\n"))


def private_key(kind: str, chance: random.Random) -> str:
    """A PEM block that no tool would accept, of `kind` such as "RSA "."""
    lines = "\n".join(make("{64:b64}", chance) for _ in range(12))
    frame = f"{kind}{'PRIVATE'} {'KEY'}-----"
    return f"-----{'BEGIN'} {frame}\n{lines}\n-----{'END'} {frame}"
