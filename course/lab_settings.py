"""JupyterLab's defaults in this environment (`python -m course.lab_settings`): overrides.json."""

import json
import sys
from pathlib import Path

SETTINGS = {  # nothing is asked of the network; widgets are saved with the notebook
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}


def write(prefix=sys.prefix):
    """Merge SETTINGS into what the environment at `prefix` has. Raises ValueError or OSError."""
    path = Path(prefix) / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    theirs = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if not isinstance(theirs, dict) or not all(
        isinstance(theirs.get(p, {}), dict) for p in SETTINGS
    ):
        raise ValueError(f"{path} holds no settings by plugin")
    merged = theirs | {plugin: theirs.get(plugin, {}) | ours for plugin, ours in SETTINGS.items()}
    if merged != theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(merged, indent=2) + "\n", encoding="utf-8")


def main(prefix=sys.prefix):
    """Write the settings; where that cannot be, say so and go on: lessons run without them."""
    try:
        write(prefix)
    except (OSError, ValueError) as error:
        print(f"JupyterLab keeps its own settings: {error}.")
        print("Widgets won't be saved with a notebook. Repair or remove that file.")


if __name__ == "__main__":
    main()
