"""Known vulnerabilities of dependencies: Cargo.lock against a snapshot of the RustSec advisory database (CC0-1.0).

Without arguments it checks. With the folder of a checkout of the database it writes the snapshot anew:
`python3 .ci/advisories.py make ../advisory-db`."""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

SNAPSHOT = pathlib.Path(".ci/advisories.json")

# Advisories that do not concern this project, each with the reason.
ACCEPTED = {}


def version(text):
    """A version as something that can be compared; what comes before a release is less than it."""
    release, _, before = text.split("+")[0].partition("-")
    numbers = [int(number) for number in release.split(".")]
    numbers += [0] * (3 - len(numbers))
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".")] if before else []
    return (numbers, not before, parts)


def after(text, place):
    """The next version that differs at a place: what `^` and `~` do not reach."""
    numbers = version(text)[0]
    return (numbers[:place] + [numbers[place] + 1] + [0] * (2 - place), False, [])


def meets(own, requirement):
    """Whether a version meets a requirement as Cargo reads it."""
    if requirement.strip() == "*":
        return True
    return all(meets_one(own, part.strip()) for part in requirement.split(","))


def meets_one(own, part):
    operator, text = re.fullmatch(r"(>=|<=|>|<|=|\^|~)?\s*v?([0-9A-Za-z.+-]+)", part).groups()
    own, other = version(own), version(text)
    if operator in (">=", "<=", ">", "<", "="):
        return {">=": own >= other, "<=": own <= other, ">": own > other, "<": own < other, "=": own == other}[operator]
    given = len(text.split("-")[0].split("."))
    if operator == "~":
        return other <= own < after(text, min(given - 1, 1))
    significant = next((place for place, number in enumerate(other[0]) if number), given - 1)
    return other <= own < after(text, min(significant, given - 1))


def make(folder):
    commit = subprocess.run(
        ["git", "-C", folder, "log", "-1", "--format=%cs"], check=True, capture_output=True, text=True
    ).stdout.strip()
    crates = {}
    for path in sorted(pathlib.Path(folder).glob("crates/*/*.md")):
        head = tomllib.loads(path.read_text(encoding="utf-8").split("```toml")[1].split("```")[0])
        told, versions = head["advisory"], head.get("versions", {})
        if "withdrawn" in told:
            continue
        entry = [told["id"], told.get("informational", ""), versions.get("patched", []), versions.get("unaffected", [])]
        crates.setdefault(told["package"], []).append(entry)
    lines = [f"  {json.dumps(name)}: {json.dumps(entries)}" for name, entries in sorted(crates.items())]
    text = f'{{"date": "{commit}", "source": "RustSec advisory database, CC0-1.0", "crates": {{\n' + ",\n".join(lines) + "\n}}\n"
    SNAPSHOT.write_text(text, encoding="utf-8")


def packages():
    for package in tomllib.loads(pathlib.Path("Cargo.lock").read_text(encoding="utf-8"))["package"]:
        if "source" in package:
            yield package["name"], package["version"]


def check():
    snapshot = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    problems, notes, seen = [], [], 0
    for name, own in packages():
        for advisory, kind, patched, unaffected in snapshot["crates"].get(name, []):
            seen += 1
            if any(meets(own, requirement) for requirement in [*patched, *unaffected]):
                continue
            told = f"{name} {own}: {advisory}" + (f" ({kind})" if kind else "")
            if advisory in ACCEPTED:
                continue
            # That a crate has no maintainer is no vulnerability.
            (notes if kind in ("unmaintained", "notice") else problems).append(told)
    for note in notes:
        print(f"note: {note}")
    for problem in problems:
        print(problem)
    print(f"advisories: {seen} for our dependencies as of {snapshot['date']}, {len(problems)} count")
    return 1 if problems else 0


def known_good():
    """The rules of requirements, on versions whose answer is known."""
    cases = [
        ("1.2.3", ">= 1.2.3", True), ("1.2.3", "> 1.2.3", False), ("1.2.3-rc.1", ">= 1.2.3", False),
        ("1.2.3-rc.10", "> 1.2.3-rc.9", True), ("0.22.4", ">= 0.22.4, < 0.23.0", True), ("0.23.0", "< 0.23.0", False),
        ("1.9.0", "^1.2", True), ("2.0.0", "^1.2", False), ("0.2.9", "^0.2.3", True), ("0.3.0", "^0.2.3", False),
        ("0.0.4", "^0.0.3", False), ("1.2.9", "~1.2.3", True), ("1.3.0", "~1.2.3", False), ("1.9.0", "~1", True),
        ("1.5.0", "1", True), ("2.0.0", "1", False), ("3.0.0", "*", True), ("1.2.3+build", "=1.2.3", True),
    ]
    for own, requirement, expected in cases:
        assert meets(own, requirement) == expected, (own, requirement)


known_good()
if sys.argv[1:2] == ["make"]:
    make(sys.argv[2])
else:
    sys.exit(check())
