"""Fences of the repository itself: licences of dependencies, sizes of files, paths that must not stand here, and tests
that the documents name."""

import json
import re
import subprocess
import sys

ALLOWED = {
    "Apache-2.0", "MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unicode-3.0", "0BSD",
    "BSL-1.0", "CC0-1.0", "Unlicense", "CDLA-Permissive-2.0", "OpenSSL", "Apache-2.0 WITH LLVM-exception",
}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def licences():
    packages = json.loads(output("cargo", "metadata", "--format-version", "1", "--locked"))["packages"]
    registries = {package["source"] for package in packages if (package["source"] or "").startswith("registry+")}
    if len(registries) > 1:
        yield f"packages come from several registries: {', '.join(sorted(registries))}"
    for package in packages:
        if package["source"] not in {None, *registries}:
            yield f"{package['name']} {package['version']} comes from {package['source']}, and not from a registry"
        expression = package["license"]
        if expression is None:
            yield f"{package['name']} {package['version']} names no licence"
            continue
        # `A OR B`, `A/B`: one allowed choice is enough. `A AND B`: each must be.
        choices = re.split(r"\s+OR\s+|/", expression.replace("(", "").replace(")", ""))
        if not any(all(p.strip() in ALLOWED for p in re.split(r"\s+AND\s+", c)) for c in choices):
            yield f"{package['name']} {package['version']} is under {expression}, which is not on the list"


def files():
    for path in output("git", "ls-files").splitlines():
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        lines = text.count("\n")
        if path.endswith(".rs") and lines > 400:
            yield f"{path} has {lines} lines; the limit is 400: find the seam"
        if not path.endswith(".lock") and path != ".ci/repository.py" and re.search(r"(^|[^A-Za-z.])/(work|root|home/\w+)/", text):
            yield f"{path} names a path of some machine"


def named_tests():
    """Every test that the tables of the guide and SECURITY.md name is there."""
    sources = ""
    for path in output("git", "ls-files", "*.rs").splitlines():
        with open(path, encoding="utf-8") as file:
            sources += file.read()
    # A function, or a line of the exhaustive tier's list.
    there = set(re.findall(r"(?:\bfn |^    )([a-z0-9_]+)(?:\(|: \w+::)", sources, re.MULTILINE))
    for path, title, least in [("shared/guide/src/reference/faults.md", "# Faults", 60), (".github/SECURITY.md", "## What is tried", 40)]:
        with open(path, encoding="utf-8") as file:
            tables = file.read().partition(title)[2]
        named = set(re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+){3,})`", tables))
        if len(named) < least:
            yield f"{path} names {len(named)} tests; it had more"
        for name in sorted(named - there):
            yield f"{path} names the test {name}, and there is none"


problems = [*licences(), *files(), *named_tests()]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
