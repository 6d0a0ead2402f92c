"""Passwords told in a sentence are secrets, in each language; talk about passwords is none."""

from __future__ import annotations

import pytest

from commonwealth.curate import secrets


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("log in as admin with password Winter2026!", "Winter2026!"),
        ("the database password is always correcthorse-xEEsAoCaA2", "correcthorse-xEEsAoCaA2"),
        ("pw: hunter2-Prod", "hunter2-Prod"),
        ("The password for the staging db is Sp1ngfield-42x.", "Sp1ngfield-42x"),
        ("Das Passwort lautet Sommer2026!", "Sommer2026!"),
        ("Kennwort für root: Katze99!", "Katze99!"),
        ("mot de passe : Soleil2026!", "Soleil2026!"),
        ("la contraseña es Invierno2026!", "Invierno2026!"),
        ("пароль Zima2026!", "Zima2026!"),
        ('the password is "Tr0ub4dor&3x"', "Tr0ub4dor&3x"),
    ],
)
def test_a_password_in_a_sentence_is_found(text: str, value: str) -> None:
    assert secrets.scan(text, "summary")
    assert value not in secrets.mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "The password must be at least 12 characters",
        "the password is rotated weekly",
        "password: changeme",
        "password: <password>",
        "password ResetV2Handler is called",
        "password hashing uses Argon2id",
        "the password SHA-256 digest",
        "password reset-token-v2 expires",
        "pw = os.environ['DB_PW1']",
        "password field password2 in the form",
        "password policy 2024-05",
        "Passwort2 ist falsch",
        "password123 is banned",
        "The password is Base64Encoded first",
        "password login2FA flow",
        "the password is stored in Vault2Go",
    ],
)
def test_talk_about_passwords_is_no_secret(text: str) -> None:
    assert not secrets.scan(text, "summary")
