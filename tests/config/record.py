"""Records what kube-scheduler v1.37.2 makes of the configurations in corpus/.

    python tests/config/record.py /path/to/kube-scheduler

For each accepted/NAME.yaml its --write-config-to goes to NAME.effective.yaml and the plugins of each profile, expanded
and with their weights, to NAME.plugins.json; for each refused/NAME.yaml the error goes to NAME.error.txt. A first line
"# feature-gates: ..." in a configuration is passed as --feature-gates. The scheduler is pointed at an address where
nothing listens, and writes the configuration before it connects.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
FAILED = re.compile(r'"command failed" err=("(?:[^"\\]|\\.)*"|<\n(?:\t.*\n)+ >)')
EXPANDED = re.compile(r'"the scheduler starts to work with those plugins" Plugins=(\{.*\})')


def run(scheduler: str, config: Path) -> tuple[str | None, str]:
    """The effective configuration or None, and the log."""
    text = config.read_text()
    gates = re.match(r"# feature-gates: (.*)", text)
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "out.yaml"
        command = [scheduler, f"--config={config}", f"--write-config-to={out}"]
        command += ["--master=http://127.0.0.1:1", "--secure-port=0", "-v=2"]
        if gates:
            command.append(f"--feature-gates={gates[1]}")
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return (out.read_text() if out.exists() else None), done.stderr


def expanded(log: str) -> str:
    """For each profile the plugins and weights by extension point, a line a point."""
    profiles = []
    for plugins in EXPANDED.findall(log):
        points = {
            point[0].lower() + point[1:]: {plugin["Name"]: plugin["Weight"] for plugin in plugin_set["Enabled"] or ()}
            for point, plugin_set in json.loads(plugins).items()
        }
        lines = ",\n".join(f"  {json.dumps(point)}: {json.dumps(found)}" for point, found in points.items())
        profiles.append("{\n" + lines + "\n}")
    return "[" + ",".join(profiles) + "]\n"


def message(logged: str) -> str:
    """The error as klog was given it: quoted on one line, or indented between angle brackets."""
    if logged.startswith('"'):
        text: str = json.loads(logged)
        return text
    return "\n".join(line.removeprefix("\t") for line in logged.splitlines()[1:-1])


def main() -> None:
    scheduler = sys.argv[1]
    for config in sorted(CORPUS.glob("accepted/*.yaml")):
        if config.name.endswith(".effective.yaml"):
            continue
        effective, log = run(scheduler, config)
        if effective is None:
            sys.exit(f"{config.name} was refused:\n{log}")
        config.with_name(f"{config.stem}.effective.yaml").write_text(effective)
        config.with_name(f"{config.stem}.plugins.json").write_text(expanded(log))
    for config in sorted(CORPUS.glob("refused/*.yaml")):
        effective, log = run(scheduler, config)
        error = FAILED.search(log)
        if effective is not None or error is None:
            sys.exit(f"{config.name} was accepted:\n{log}")
        config.with_name(f"{config.stem}.error.txt").write_text(message(error[1]) + "\n")


if __name__ == "__main__":
    main()
