"""Why a scheduler process can't start, or a simulation can't begin."""

from __future__ import annotations


class StartError(Exception):
    """Something that the process needs can't be had; says what, and what to change."""


class SettingsError(StartError):
    """What it was given (flags, files, credentials) can't be used."""


class ManifestError(ValueError):
    """An input that can't be read; the text says which file, which document, which field."""
