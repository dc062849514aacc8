"""What all views are."""

import msgspec

API_VERSION = "explain.berth.dev/v1"


class View(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of all views."""
