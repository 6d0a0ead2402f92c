"""Credentials without a shape of their own that stand beside the name of who issued them: `codecov = …`.

The names are those of providers whose keys are plain letters and digits. A name counts where a value that is drawn at
random follows it, after a sign of assignment or a word for a credential.
"""

from __future__ import annotations

from collections.abc import Iterator

from commonwealth.curate.randomness import (
    compiled,
    entropy,
    is_hex,
    is_identifier,
    is_placeholder,
    is_random,
    is_reference,
)
from commonwealth.curate.secret_contexts import Span

_NAMES = tuple(
    """
    adafruit adobe airtable algolia alibaba aliyun amplitude artifactory asana atlassian auth0 beamer bintray bitbucket
    bittrex clickhouse cloudflare codecov cohere coinbase confluence confluent contentful datadog deepgram discord
    droneci drone-ci dropbox etsy facebook fastly finicity finnhub flickr freshbooks freshdesk gitter gocardless heroku
    hubspot instagram intercom jfrog jira klaviyo kraken kucoin launchdarkly linear linkedin linked-in lob looker
    mailchimp mailgun mapbox mattermost meraki messagebird message-bird message_bird mixpanel netlify newrelic new-relic
    new_relic nytimes newyorktimes okta pagerduty pinecone plaid postmark privateai private-ai private_ai rapidapi
    rollbar segment sendbird sentry shodan sidekiq snyk sonar sonarqube spotify squarespace sumologic sumo telegr
    tiktok travis trello twilio twitch twitter vercel virustotal wandb yandex zendesk zoom
    """.split()  # noqa: SIM905 (a list of one name a line is ten times as long)
)
_WITH_UUIDS = frozenset(
    "heroku hubspot kucoin messagebird message-bird message_bird postmark sendbird snyk squarespace".split()  # noqa: SIM905
)
"""Who issues keys that are UUIDs: elsewhere these are ids."""

_WITH_SHA1_LENGTH = frozenset(("meraki", "sendbird"))
"""Who issues keys that look like the name of a commit."""

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_WORD = r"(?i:key|token|secret|passw(?:or)?d|pat|auth|credentials?|password)"
_AFTER = (
    r"(?P<name>[\w \t.-]{0,20})(?:[\"'`\]]{1,2}[ \t]?|[ \t])?"
    r"(?:(?:=>|:{1,3}=|\|\||\?=|[=:])[\"'`\s=]{0,5}(?:\{[\s\"']{0,4}\w{1,20}[\"']?[ \t]?:[ \t]?[\"']?)?"
    r"|[>,][ \t]?[\"'`]{1,3})"
    rf"|(?P<said>[\w \t.'\"`-]{{0,40}}?{_WORD}\b[^\n]{{0,30}}?[\s\"'`=:(])"
)
_VALUE = r"(?:(?<=[\s\"'`=:>(])|(?<==)|(?<=:))(?P<value>[\w=+/-]{14,160})(?![\w@/.-]{0,3}[A-Za-z0-9])"
_NO_KEY = (
    r"(?i)(?:^|[-_. ])(?:ids?|urls?|uris?|hosts?|names?|version|release|build|commit|sha\d*|hash|digest|checksum|rev"
    r"|revision|branch|tag|image|trace|request|event|issue|ticket|project|team|org|user|account|dsn|path|file)[ \t]*$"
)


def beside_name(text: str, lower: str) -> Iterator[Span]:
    """Values beside a provider's name. `lower` is `text` in lower case, of the same length."""
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if not (at and lower[at - 1].isalpha()) and (span := _after(text, name, end)):
                yield span
                end = span.end
            at = lower.find(name, end)


def _after(text: str, name: str, end: int) -> Span | None:
    match = compiled(f"(?:{_AFTER}){_VALUE}").match(text, end)
    if match is None or compiled(_NO_KEY).search(match["name"] or ""):
        return None
    if not _is_key(match["value"], name, said=match["said"] is not None):
        return None
    return Span("provider-key", *match.span("value"))


def _is_key(value: str, name: str, *, said: bool) -> bool:
    if compiled(_UUID).fullmatch(value):
        return name in _WITH_UUIDS
    if is_identifier(value) or is_placeholder(value[:80]) or is_reference(value) or value.count("/") > 4:
        return False
    if is_hex(value):
        return len(value) >= 24 and (said or len(value) != 40 or name in _WITH_SHA1_LENGTH)
    if is_random(value):
        return True
    return (
        value.isalnum()
        and not value.isalpha()
        and entropy(value) >= 3.3
        and not compiled(r"[A-Za-z]+[0-9]{1,4}").fullmatch(value)  # a word with a number behind it
    )
