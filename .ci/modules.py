"""Fences of the house: no type of the runtime or the store has more than 20 public methods, and no circle of modules
is added to those that are listed here.

A module is a folder (or file) directly under a crate's `src`. It depends on another one if it names a path of it
(`crate::kernel::..`) or calls one of its handles (`self.kernel()`).
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

METHODS_MAX = 20

# Circles that are there. To open one, delete its line; none may be added.
CIRCLES = {
    "runtime": set(),
    "store": set(),
}

METHOD = re.compile(r"^    pub (?:const |async |unsafe )*fn (\w+)")
IMPL = re.compile(r"^impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)?(?: \{|$| where)")
HANDLE = re.compile(r"handle!\((?:\s*///[^\n]*)*\s*(pub(?:\(crate\))?) (\w+),\s*(\w+)\s*,?\s*\)")


def sources(crate):
    root = Path("shared") / crate / "src"
    listed = subprocess.run(["git", "ls-files", str(root)], check=True, capture_output=True, text=True).stdout
    for path in map(Path, listed.splitlines()):
        if path.suffix == ".rs" and path.exists():
            text = path.read_text(encoding="utf-8")
            top = path.relative_to(root).parts[0].removesuffix(".rs")
            yield top, path, text.partition("\n#[cfg(test)]\nmod tests {")[0]


def methods(crate, owner):
    """Public methods by type."""
    found = defaultdict(set)
    for _, _, text in sources(crate):
        kind = None
        for line in text.splitlines():
            if match := IMPL.match(line):
                kind = match[1]
            elif line.startswith("}"):
                kind = None
            elif kind and (match := METHOD.match(line)):
                found[kind].add(match[1])
        for visible, _, accessor in HANDLE.findall(text):
            if visible == "pub":
                found[owner].add(accessor)
    return found


def dependencies(crate):
    """Which module names which, and in which file."""
    files = [source for source in sources(crate) if source[0] != "lib"]
    modules = {top for top, _, _ in files}
    handles = {accessor: top for top, _, text in files for _, _, accessor in HANDLE.findall(text)}
    edges = defaultdict(dict)
    for top, path, text in files:
        code = re.sub(r"//[^\n]*", "", text)
        named = set(re.findall(r"\bcrate::(\w+)", code))
        # `store()` and `store` lead to the handles of another crate.
        calls = re.findall(r"(\w+)(?:\(\))?\s*\.\s*(\w+)\(\)", code)
        named |= {handles[name] for receiver, name in calls if name in handles and (crate == "store" or receiver != "store")}
        for other in named & modules - {top}:
            edges[top].setdefault(other, path)
    return modules, edges


def circles(modules, edges):
    """Modules that reach each other, as sorted groups."""
    reach = {}
    for start in modules:
        seen, todo = set(), [start]
        while todo:
            for other in edges[todo.pop()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reach[start] = seen
    return {tuple(sorted({a} | {b for b in reach[a] if a in reach[b]})) for a in modules if a in reach[a]}


def problems():
    for crate, owner in (("runtime", "Runtime"), ("store", "Store")):
        for kind, names in sorted(methods(crate, owner).items()):
            if len(names) > METHODS_MAX:
                yield f"{crate}: `{kind}` has {len(names)} public methods; the limit is {METHODS_MAX}: find the seam"
        modules, edges = dependencies(crate)
        for circle in sorted(circles(modules, edges) - CIRCLES[crate]):
            yield f"{crate}: a new circle of modules: {', '.join(circle)}"
            for a in circle:
                for b in circle:
                    if b in edges[a]:
                        yield f"  {a} needs {b}: {edges[a][b]}"


if __name__ == "__main__":
    found = list(problems())
    print("\n".join(found) or "no circle of modules, and no type with too many methods")
    sys.exit(1 if found else 0)
