"""What the credentials of known providers look like, one line a family.

A rule is tried only where one of its needles occurs in the text, so a note without them costs one
substring search a needle. Patterns are bounded or start with a literal: no input makes them slow.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """One family. `needles` are literals, one of which every match contains.

    Group 1 of `pattern`, where there is one, is the secret; otherwise the whole match is.
    """

    name: str
    needles: tuple[str, ...]
    pattern: str


_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-F]{2}))"
_END = r"(?![A-Za-z0-9])"


def _token(name: str, needles: str, shape: str) -> Rule:
    """A token with a fixed beginning or another literal inside: known for what it is without context."""
    return Rule(name, tuple(needles.split()), f"{_START}(?:{shape}){_END}")


# AWS, Google, Azure and other clouds
_CLOUDS = (
    _token("aws-access-key", "AKIA ASIA ABIA ACCA A3T", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}"),
    _token(
        "aws-bedrock-key",
        "ABSK bedrock-api-key-",
        r"ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[\w+/=-]{40,}",
    ),
    _token("google-api-key", "AIza", r"AIza[\w-]{35}"),
    _token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[\w-]{24,}"),
    _token("google-access-token", "ya29.", r"ya29\.[\w-]{20,}"),
    _token("google-refresh-token", "1//0", r"1//0[\w-]{40,}"),
    _token("azure-client-secret", "Q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}"),
    _token("azure-account-key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
    _token("azure-shared-access-key", "SharedAccessKey=", r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})"),
    _token("azure-sas-signature", "sig=", r"sig=([A-Za-z0-9+/]{30,}(?:[A-Za-z0-9+/]|%2[BbFf]){10,}(?:=|%3[Dd]))"),
    _token("azure-devops-token", "AZDO", r"[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4}"),
    _token(
        "azure-resource-key",
        "AzFu AzSe AzCa ACDb",
        r"[A-Za-z0-9+/_-]{32,80}(?:AzFu|AzSe|AzCa|ACDb)[\w+/-]{5,12}={0,2}",
    ),
    _token("alibaba-access-key", "LTAI", r"LTAI[A-Za-z0-9]{16,24}"),
    _token("tencent-secret-id", "AKID", r"AKID[A-Za-z0-9]{32}"),
    _token("yandex-token", "AQVN y0_ t1.", r"AQVN[\w-]{35,38}|y0_[\w-]{50,}|t1\.[\w-]{4,}={0,2}\.[\w-]{60,}={0,2}"),
    _token("clickhouse-key", "4b1d", r"4b1d(?=[0-9a-z]*[A-Z])[A-Za-z0-9]{38}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("heroku-key", "HRKU-", r"HRKU-[\w-]{36,70}"),
    _token("flyio-token", "fm1 fm2 fo1_", r"fm[12][ar]?_[\w+/=-]{60,}|fo1_[\w-]{43}"),
    _token("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", r"nf[pcoub]_[A-Za-z0-9]{36,}"),
    _token(
        "vercel-token",
        "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_",
        r"vc[piark]_[A-Za-z0-9]{24,}|vercel_blob_rw_\w{30,}",
    ),
    _token("render-key", "rnd_", r"rnd_[A-Za-z0-9]{28,}"),
    _token("railway-or-deno-token", "ddp_ ddo_", r"dd[po]_[A-Za-z0-9]{36}"),
    _token("fastly-or-cloudflare-origin", "v1.0-", r"v1\.0-[a-f0-9]{24,}-[a-f0-9]{100,}"),
    _token("cloudflare-token", "cfat_ cfut_ cfk_", r"cf(?:at|ut|k)_[A-Za-z0-9]{36,}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{16,})?"),
    _token("openshift-token", "sha256~", r"sha256~[\w-]{43}"),
    _token("aiven-password", "AVNS_", r"AVNS_[\w-]{16,24}"),
    _token("scalingo-token", "tk-us-", r"tk-us-[\w-]{48}"),
)

# where code lives, is built and is published
_FORGES = (
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _token("github-fine-grained-token", "github_pat_", r"github_pat_\w{60,}"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\w.-]{20,}",
    ),
    _token("gitlab-runner-token", "GR1348941", r"GR1348941[\w-]{20}"),
    _token("gitlab-session", "_gitlab_session=", r"_gitlab_session=([0-9a-z]{32})"),
    _token("bitbucket-password", "ATBB", r"ATBB[A-Za-z0-9]{28,32}"),
    _token("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[\w=-]{60,}"),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-AgEI pypi-AgEN", r"pypi-AgE[IN][\w-]{50,}"),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _token("crates-token", "cio", r"cio[A-Za-z0-9]{32}"),
    _token("nuget-key", "oy2", r"oy2[a-z0-9]{43}"),
    _token("clojars-token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    _token("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{24,}"),
    _token("jfrog-key", "AKCp cmVmd", r"AKCp\w{60,80}|cmVmdGtu[A-Za-z0-9]{40,}|cmVmd[A-Za-z0-9]{59}"),
    _token("buildkite-token", "bkua_ bkaj_", r"bk(?:ua|aj)_[a-f0-9]{40}"),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,}_[a-f0-9]{40}"),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}"),
    _token(
        "doppler-token",
        "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.",
        r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _token("vault-token", "hvs. hvb. hvr. s.", r"hv[sbr]\.[\w-]{24,}|s\.(?=[A-Za-z]*[0-9])[A-Za-z0-9]{24}"),
    _token("onepassword-token", "ops_eyJ", r"ops_eyJ[\w=+/-]{100,}"),
    _token("onepassword-secret-key", "A3-", r"A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,6}"),
    _token("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _token("sonarqube-token", "sqp_ squ_ sqa_", r"sq[pua]_[a-f0-9]{40}"),
    _token("sourcegraph-token", "sgp_", r"sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    _token("octopus-key", "API-", r"API-[A-Z0-9]{26}"),
    _token("infracost-key", "ico-", r"ico-[A-Za-z0-9]{32}"),
    _token("harness-token", "pat. sat.", r"[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    _token("postman-key", "PMAK- PMAT-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}|PMAT-[A-Z0-9]{26}"),
    _token("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _token("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
)

# models and data
_DATA = (
    _token(
        "openai-key",
        "sk-",
        r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{32,64}",
    ),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[a-z]{2,6}[0-9]{2}-[\w-]{20,}"),
    _token("openrouter-key", "sk-or-", r"sk-or-(?:v1-)?[a-f0-9]{40,}"),
    _token("hugging-face-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,40}"),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,60}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,56}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("elevenlabs-key", "sk_", r"sk_[a-f0-9]{48}"),
    _token("cursor-key", "key_", r"key_[a-f0-9]{64}"),
    _token("databricks-token", "dapi dose dkea", r"(?:dapi|dose|dkea)[a-f0-9]{32}(?:-[0-9])?"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _token("supabase-token", "sbp_ sb_secret_", r"sbp_(?:oauth_)?[a-f0-9]{40}|sb_secret_[\w-]{20,}"),
    _token("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth|app)_[\w.=-]{30,64}"),
    _token("neon-key", "napi_", r"napi_[a-z0-9]{48,}"),
    _token("dropbox-token", "sl.", r"sl\.(?:[a-z]\.)?[\w=-]{100,}"),
    _token("mapbox-secret", "sk.eyJ1", r"sk\.eyJ1[\w-]{50,}\.[\w-]{20,}"),
    _token("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _token("contentful-token", "CFPAT-", r"CFPAT-[\w-]{40,}"),
    _token("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}"),
    _token("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9_-]{32}"),
    _token("google-vertex-or-firebase", "AAAA", r"AAAA[\w-]{7}:[\w-]{140}"),
)

# teams, messages, payments
_SERVICES = (
    _token("slack-token", "xox", r"xox[abeoprsd]-[A-Za-z0-9-]{20,}|xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{100,}"),
    _token("slack-app-token", "xapp-", r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[A-Za-z0-9]{30,}"),
    _token(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{30,})",
    ),
    _token("discord-token", "M N O", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}"),
    _token("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/([0-9]{16,20}/[\w-]{50,})"),
    _token(
        "teams-webhook",
        ".webhook.office.com",
        r"[\w-]+\.webhook\.office\.com/webhookb2/([\w-]{36}@[\w-]{36}/[A-Za-z]+/\w{32}/[\w-]{36}[\w/-]*)",
    ),
    _token("zapier-webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/([0-9]{5,}/[a-z0-9]{5,})"),
    _token("telegram-token", ":A", r"[0-9]{5,16}:A[\w-]{34}"),
    _token(
        "stripe-key",
        "k_live_ k_test_ k_prod_",
        r"[sr]k_(?:live|test|prod)_(?:[A-Za-z0-9]{16,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{10,15})",
    ),
    _token("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    _token("square-token", "sq0 EAAA", r"sq0(?:atp|csp|idb)-[\w-]{22,43}|EAAA[\w-]{22,60}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}"),
    _token(
        "braintree-token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    ),
    _token("plaid-token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    _token("razorpay-key", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    _token("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-(?:[a-z0-9]{32}-X|[a-h0-9]{12})"),
    _token("easypost-key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("duffel-token", "duffel_", r"duffel_(?:live|test)_[\w=-]{43}"),
    _token("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    _token("twilio-key", "SK", r"SK[0-9a-fA-F]{32}"),
    _token("sendgrid-key", "SG.", r"SG\.[\w=-]{16,32}\.[\w=-]{16,64}|SG\.[\w.=-]{66}"),
    _token("mailgun-key", "key-", r"(?:pub)?key-[0-9a-f]{32}"),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    _token("facebook-token", "EAA", r"EAA[A-Z][A-Za-z0-9]{80,}"),
    _token("twitter-bearer", "AAAAAAAAAAAAAAAAAAAAA", r"A{20,24}[A-Za-z0-9]{6,12}%[A-Za-z0-9%]{40,}"),
    _token("twitter-token", "-", r"[0-9]{15,25}-(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{20,45}"),
    _token("asana-token", "1/ 2/", r"[12]/[0-9]{12,20}(?:/[0-9]{12,20})?:[a-f0-9]{32}"),
    _token("linear-key", "lin_api_ lin_oauth_", r"lin_api_[A-Za-z0-9]{40}|lin_oauth_[a-f0-9]{64}"),
    _token("notion-token", "ntn_ secret_", r"ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43}"),
    _token("figma-token", "figd_ figo_ figu_ figor_", r"fig(?:d|o|u|or|ur|oh)_[\w-]{36,}"),
    _token("typeform-token", "tfp_", r"tfp_[\w.=-]{40,60}"),
    _token("intercom-token", "dG9rO", r"dG9rO[A-Za-z0-9+/]{40,}={0,2}"),
    _token("hubspot-token", "pat-", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}"),
    _token("frameio-token", "fio-u-", r"fio-u-[\w=-]{64}"),
    _token("facebook-app-token", "| %", r"[0-9]{15,16}(?:\||%7[Cc]|%)[\w-]{27,40}"),
    _token("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", r"sm_[aps]at_[A-Za-z0-9]{16}"),
    _token("defined-networking-key", "dnkey-", r"dnkey-[\w=-]{26}-[\w=-]{52}"),
    _token("intra42-secret", "s-s4t2", r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    _token("authress-key", ".acc_ .acc-", r"\w{7,40}\.\w{4,6}\.acc[_-][\w-]{10,32}\.[\w+/=-]{30,120}"),
    _token("lob-key", "live_ test_", r"(?:live|test)_[a-f0-9]{35}"),
)

# watching what runs
_WATCHING = (
    _token(
        "new-relic-key",
        "NRAK- NRAA- NRII- NRIQ- NRRA- NRSP- NRJS-",
        r"NRAK-[A-Z0-9]{27}|NRAA-[a-f0-9]{27}|NRI[IQ]-[\w-]{32}|NRRA-[a-f0-9]{42}|NRSP-[a-z]{2}[0-9]{2}[\w-]{31,}|NRJS-[a-f0-9]{19}",
    ),
    _token("new-relic-license", "NRAL", r"[a-z0-9]{30,40}NRAL"),
    _token("sentry-token", "sntrys_ sntryu_ sntrya_", r"sntry[sua]_[\w=+/-]{40,}"),
    _token(
        "grafana-token",
        "glsa_ glc_ eyJrIjoi",
        r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|eyJrIjoi[A-Za-z0-9]{60,}={0,2}",
    ),
    _token("dynatrace-token", "dt0c01. dt0s", r"dt0[cs][0-9]{2}\.[A-Za-z0-9]{8,24}\.[A-Za-z0-9]{64}"),
    _token("posthog-key", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{40,}"),
    _token("launchdarkly-key", "sdk- api-", rf"(?:sdk|api)-{_UUID}"),
    _token("honeycomb-key", "hcaik_ hcamk_ hcxik_", r"hc[a-z]{1,2}[mi]k_[a-z0-9]{26}(?:[a-z0-9:]{32,})?"),
    _token("snyk-token", "snyk_", r"snyk_(?:uat|sat)\.[\w.-]{40,}"),
)


def _named(name: str, provider: str, shape: str) -> Rule:
    """A token without a mark: the provider's name, then a word for a credential, then the shape."""
    words = provider.split("|")
    pattern = (
        rf"(?i:(?<![A-Za-z])(?:{provider})[\w.'\": {{-]{{0,40}}?"
        r"(?:key|token|secret|password|pat|auth|credentials?)\b[^\n]{0,30}?)"
        rf"(?<![A-Za-z0-9/])({shape}){_END}"
    )
    return Rule(name, tuple(words), pattern)


NAMED: tuple[Rule, ...] = (
    _named("aws-secret-key", "aws", r"[A-Za-z0-9/+]{40}"),
    _named("azure-key", "azure", r"[a-z2-7]{52}|[a-f0-9]{32}|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}=="),
    _named("heroku-uuid-key", "heroku", _UUID),
    _named("cloudflare-key", "cloudflare", r"[\w-]{40}|[a-f0-9]{37}"),
    _named("datadog-key", "datadog|dd_api|dd_app", r"[a-f0-9]{32}|[a-f0-9]{40}"),
    _named("fastly-token", "fastly", r"[\w-]{32}"),
    _named("algolia-key", "algolia", r"[a-f0-9]{32}"),
    _named("okta-token", "okta", r"00[\w-]{40}"),
    _named("twilio-auth-token", "twilio", r"[0-9a-f]{32}"),
    _named("mailgun-private-key", "mailgun", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    _named("vercel-legacy-token", "vercel|zeit", r"[A-Za-z0-9]{24}"),
    _named("netlify-legacy-token", "netlify", r"[\w-]{43,46}"),
    _named("snyk-uuid-token", "snyk", _UUID),
    _named("circleci-legacy-token", "circle", r"[a-f0-9]{40}"),
    _named("travis-token", "travis", r"[\w-]{22}"),
    _named("wandb-key", "wandb|weights", r"[a-f0-9]{40}"),
    _named("cohere-key", "cohere", r"[A-Za-z0-9]{40}"),
    _named("mistral-key", "mistral", r"[A-Za-z0-9]{32}"),
    _named("postmark-token", "postmark", _UUID),
    _named("pagerduty-key", "pagerduty|pager_duty", r"[\w+-]{20}"),
    _named("rollbar-token", "rollbar", r"[a-f0-9]{32}"),
    _named("bitbucket-secret", "bitbucket", r"[\w=-]{32}|[\w=-]{64}"),
    _named("ibm-key", "ibm", r"[\w-]{44}"),
    _named("facebook-secret", "facebook", r"[a-f0-9]{32}"),
    _named("vault-legacy-token", "vault", r"s\.[A-Za-z0-9]{24}"),
    _named("kubeadm-token", "kubeadm|bootstrap", r"[a-z0-9]{6}\.[a-z0-9]{16}"),
    _named("confluent-key", "confluent", r"[A-Z0-9]{16}|[A-Za-z0-9+/]{64}"),
    _named("ngrok-token", "ngrok", r"[A-Za-z0-9]{20,32}_[A-Za-z0-9]{16,24}"),
    _named("yandex-key", "yandex", r"YC[\w-]{38}"),
    Rule("sidekiq-key", ("contribsys",), r"(?i:contribsys)\S{0,20}[\s:=\"']{1,6}([a-f0-9]{8}:[a-f0-9]{8})(?![a-f0-9])"),
    _named("gitea-token", "gitea|forgejo|codeberg", r"[a-f0-9]{40}"),
)

SHAPED: tuple[Rule, ...] = (*_CLOUDS, *_FORGES, *_DATA, *_SERVICES, *_WATCHING)

# not a provider's: keys and tokens that carry their own framing
FRAMED: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("PRIVATE KEY",),
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]{0,400}?"
        r"((?:[A-Za-z0-9+/=]{16,}(?:\s|\\n|\\r|\"|>|\|){0,8}){1,400})",
    ),
    Rule("putty-key", ("Private-Lines:",), r"Private-Lines: [0-9]+\s+([A-Za-z0-9+/=]{40,})"),
    Rule(
        "jwt",
        ("eyJ", "eyA"),
        _START + r"ey[JA][\w-]{8,2048}\.(?!eyJzdWIiOiIxMjM0NTY3ODkwI)"
        r"(?:ey[JA][\w-]{8,}\.[\w-]{16,}|[\w-]{0,2048}\.[\w-]{12,64}\.[\w-]{16,}\.[\w-]{16,})",
    ),
    Rule("freemius-key", ("secret_key",), r"[\"']secret_key[\"']\s{0,8}=>\s{0,8}[\"'](sk_[!-~]{29})[\"']"),
)
