"""`brain config`: your own settings on this machine, and what you let a brain's config loosen."""

from __future__ import annotations

import click

from commonwealth import timeline, userconfig
from commonwealth.adapters.cli.call import Call, with_call
from commonwealth.adapters.cli.frame import Group, command
from commonwealth.adapters.wire import Json, JsonObject
from commonwealth.errors import NeedsReview, Refused
from commonwealth.flows import modes

config_command = Group(
    "config",
    help="See and change your own settings on this machine.\n\n"
    "They count in every brain, and no brain can set them. A team's own config can make things stricter, never looser, "
    "unless you agree to what it asks for.",
)


@command("list", "brain config list", "brain config list --json")
@with_call
def list_command(call: Call) -> int:
    """List every setting with its value, or what counts where you have set none."""
    found = modes.values()
    if call.screen.as_json:
        call.screen.document({"path": str(userconfig.place()), "settings": [_setting(*one) for one in found.items()]})
        return 0
    rows = [
        (key, found[key] or "", setting.default or "", setting.about) for key, setting in userconfig.SETTINGS.items()
    ]
    call.screen.table(["SETTING", "VALUE", "OTHERWISE", "WHAT IT IS"], rows)
    call.screen.remark(f"They are in {userconfig.place()}.")
    return 0


def _setting(key: str, value: str | None) -> JsonObject:
    setting = userconfig.SETTINGS[key]
    shown: JsonObject = {"name": key, "value": value, "default": setting.default, "about": setting.about}
    if setting.choices:
        shown["choices"] = list[Json](setting.choices)
    return shown


@command("get", "brain config get sweeps", "brain config get agents --json")
@click.argument("name")
@with_call
def get_command(call: Call, name: str) -> int:
    """Print the value of a setting, or what counts where you have set none."""
    setting, value = modes.setting(name), modes.values().get(name)
    if call.screen.as_json:
        call.screen.document(_setting(name, value))
    else:
        call.screen.line(value or setting.default or "")
    return 0


@command("set", "brain config set sweeps auto", "brain config set agents approve", 'brain config set name "Alice B."')
@click.argument("name")
@click.argument("value")
@with_call
def set_command(call: Call, name: str, value: str) -> int:
    """Set one of your settings. `brain config list` tells what there is."""
    return _changed(call, name, value.strip(), "set" if modes.change(name, value) else "unchanged")


@command("unset", "brain config unset sweeps")
@click.argument("name")
@with_call
def unset_command(call: Call, name: str) -> int:
    """Take a setting away: its default counts again."""
    return _changed(call, name, None, "removed" if modes.change(name, None) else "unchanged")


def _changed(call: Call, name: str, value: str | None, state: str) -> int:
    if call.screen.as_json:
        call.screen.document({"state": state, **_setting(name, value)})
    else:
        default = userconfig.SETTINGS[name].default
        now = value or (f"{default}, as it is by default" if default else "not set")
        call.screen.styled((state, "green"), (f" {name}: {now}", ""))
    return 0


@command("consent", "brain config consent", "brain config consent --yes", "brain config consent --withdraw")
@click.option("--yes", is_flag=True, help="Agree to what is shown.")
@click.option("--withdraw", is_flag=True, help="Take your consent back.")
@with_call
def consent_command(call: Call, yes: bool, withdraw: bool) -> int:
    """Show what the brain here asks to loosen, and agree to it.

    Your consent is kept by a hash of exactly that: where the team's config asks for something else later, it does not
    count. Where you have set the setting yourself, yours counts.
    """
    brain = call.brain()
    asked = modes.asked(brain)
    if withdraw:
        return _told(call, asked, "withdrawn" if modes.withdraw(brain) else "unchanged")
    if not asked:
        raise Refused(
            f"The config of the brain {brain.name} asks to loosen nothing.", hint="`brain config set` changes your own."
        )
    if modes.has_consent(brain):
        return _told(call, asked, "unchanged")
    if yes:
        return _told(call, asked, "agreed" if modes.consent(brain, now=timeline.now()) else "unchanged")
    _told(call, asked, "asked")
    if not call.screen.as_json:
        call.screen.remark("`brain config consent --yes` agrees to it.", "hint")
    return NeedsReview.exit_code


def _told(call: Call, asked: dict[str, str], state: str) -> int:
    if call.screen.as_json:
        call.screen.document({"state": state, "asked": dict[str, Json](asked)})
    else:
        said = ", ".join(f"{key}: {value}" for key, value in asked.items())
        call.screen.styled((state, "green"), (f" {said}", ""))
    return 0


for made in (list_command, get_command, set_command, unset_command, consent_command):
    config_command.add_command(made)
