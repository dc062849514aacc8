"""Make the archive and the manifest of the krew plugin: `make krew`, or `make krew SITE=https://...` where published.

The archive is a zip without compression and without times, so that it is the same byte for byte wherever it is made,
and the checksum in the manifest can be kept in the repository. Where the project is published is not kept: ${SITE}
stands for that.
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
NOWHERE = "https://example.com/berth"
"""An address for trying: krew wants one, and does not go there if it is given the archive."""
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
    return text.replace("${SITE}", home.rstrip("/"))


def main(home: str = NOWHERE) -> int:
    """Bring MANIFEST up to date, and write dist/kubectl-berth.zip and dist/berth.yaml for a project at this address."""
    content = archive()
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    (dist / "kubectl-berth.zip").write_bytes(content)
    text = manifest(MANIFEST.read_text(encoding="utf-8"), content)
    MANIFEST.write_text(text, encoding="utf-8")
    (dist / MANIFEST.name).write_text(published_at(text, home), encoding="utf-8")
    print(f"dist/kubectl-berth.zip and dist/{MANIFEST.name} are made for v{version()}, published at {home}")
    print(f"to try it: kubectl krew install --manifest=dist/{MANIFEST.name} --archive=dist/kubectl-berth.zip")
    return 0


if __name__ == "__main__":
    sys.exit(main(*filter(None, sys.argv[1:])))
