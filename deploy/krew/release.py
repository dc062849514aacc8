"""Make the archive and the manifest of the krew plugin: `make krew`, or `make krew SITE=https://...` where published.

The archive is a zip without compression and without times, so that it is the same byte for byte wherever it is made,
and the checksum in the manifest can be kept in the repository.
"""

from __future__ import annotations

import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MANIFEST = HERE / "berth.yaml"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_EXECUTABLE, _PLAIN = 0o755, 0o644


def version() -> str:
    """The version of the package."""
    text = (ROOT / "scheduler" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    if found is None:
        raise SystemExit("scheduler/version.py: no __version__")
    return found[1]


def archive() -> bytes:
    """What krew installs: the plugin, made for this version, and the license."""
    plugin = (HERE / "kubectl-berth").read_text(encoding="utf-8").replace("@VERSION@", version())
    files = {
        "kubectl-berth": (plugin.encode(), _EXECUTABLE),
        "LICENSE": ((ROOT / "LICENSE").read_bytes(), _PLAIN),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as made:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # Unix, which the mode is for
            entry.external_attr = (0o100000 | mode) << 16
            made.writestr(entry, content)
    return out.getvalue()


def manifest(text: str, content: bytes) -> str:
    """The manifest with the version and the checksum of this archive."""
    release = version()
    text = re.sub(r"(?m)^  version: .*$", f"  version: v{release}", text)
    text = re.sub(r"releases/download/v[^/]+/", f"releases/download/v{release}/", text)
    return re.sub(r"(?m)sha256: .*$", f"sha256: {hashlib.sha256(content).hexdigest()}", text)


def published_at(text: str, home: str) -> str:
    """The manifest of a project that is at this address."""
    before = re.search(r"(?m)^  homepage: (\S+)$", text)
    return text if before is None else text.replace(before[1], home.rstrip("/"))


def main(*home: str) -> int:
    """Write dist/kubectl-berth.zip and deploy/krew/berth.yaml; `home` is the address of the project, if it changes."""
    content = archive()
    target = ROOT / "dist" / "kubectl-berth.zip"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    text = manifest(MANIFEST.read_text(encoding="utf-8"), content)
    MANIFEST.write_text(published_at(text, home[0]) if home else text, encoding="utf-8")
    print(f"{target.relative_to(ROOT)} and {MANIFEST.relative_to(ROOT)} are made for v{version()}")
    print("to try it: kubectl krew install --manifest=deploy/krew/berth.yaml --archive=dist/kubectl-berth.zip")
    return 0


if __name__ == "__main__":
    sys.exit(main(*filter(None, sys.argv[1:])))
