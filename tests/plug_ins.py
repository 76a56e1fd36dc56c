"""Install a plug-in for a test, as pip would: a module and a distribution with entry points."""

import sys


def put(place, monkeypatch, module, source, **entries):
    """Write the module and its entry points, such as measures={"mine": "function"}, and make both importable."""
    information = place / module / f"{module}-1.0.dist-info"
    information.mkdir(parents=True)
    (place / module / f"{module}.py").write_text(source)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    groups = (
        f"[shoal.{group}]\n" + "".join(f"{name} = {module}:{function}\n" for name, function in named.items())
        for group, named in entries.items()
    )
    (information / "entry_points.txt").write_text("".join(groups))
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.syspath_prepend(str(place / module))
