#!/usr/bin/env python3
"""Plain English and links of the files that `.ci/english.txt` lists.

The list only grows: a path that the previous commit lists must stay while its file exists, and every page of the guide is
on it. The words come from the table "Words to avoid" of the glossary."""

import os
import re
import subprocess
import sys

LIST = ".ci/english.txt"
GLOSSARY = "shared/guide/src/glossary.md"
OPENING = re.compile(r"(What|Who|Whom|Whose|Whether|Where|How|Nobody|Everybody|Somebody)\b")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def tracked(path):
    """Tracked files of a path: itself, or those in the folder."""
    found = subprocess.run(["git", "ls-files", "--", path], check=True, capture_output=True, text=True)
    return [name for name in found.stdout.splitlines() if os.path.exists(name)]


def listed(text):
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def only_grows(paths):
    """Problems of a list that lost a path of this commit or of the one before."""
    for commit in ("HEAD", "HEAD^"):
        shown = subprocess.run(["git", "show", f"{commit}:{LIST}"], capture_output=True, text=True)
        for path in listed(shown.stdout) if shown.returncode == 0 else []:
            is_covered = any(path == other or path.startswith(other.rstrip("/") + "/") for other in paths)
            if os.path.exists(path) and not is_covered:
                yield f"{LIST} no longer lists {path}, and the list only grows"


def banned():
    """Words to avoid, with what to use instead, from the glossary."""
    table = read(GLOSSARY).partition("## Words to avoid")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", table, re.MULTILINE)
    words = [(word.strip(), use) for use, words in rows[1:] for word in words.split(",")]
    words = [(word, use) for word, use in words if re.fullmatch(r"[a-z' -]+", word)]
    if len(words) < 20:
        sys.exit(f"{GLOSSARY} bans only {len(words)} words; the table has changed its form")
    return [(re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE), word, use) for word, use in words]


def prose_of_markdown(text):
    """Lines of prose with their numbers: no code, no addresses."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            line = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "", line))
            yield number, re.sub(r"<https?:[^>]*>", "", line)


def prose_of_code(text, mark):
    """Comments with their numbers: no code spans."""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(rf"\s*({mark})\s?(.*)", line)
        if found:
            yield number, re.sub(r"`[^`]*`", "", found[2])


def openings(path, text):
    """Doc comments that open with a question word instead of a subject or a verb."""
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        comment = re.match(r"(///|//!)\s?(.*)", line)
        if comment and not before.startswith(comment[1]) and OPENING.match(comment[2]):
            yield f"{path}:{number}: the comment opens with “{OPENING.match(comment[2])[0]}”: begin with a subject or a verb"
        before = line


def english(path, words):
    text = read(path)
    if path.endswith(".md"):
        if path == GLOSSARY:
            before, _, after = text.partition("## Words to avoid")
            table, mark, rest = after.partition("\n## ")
            text = before + "\n" * table.count("\n") + mark + rest
        prose = prose_of_markdown(text)
    elif path.endswith(".rs"):
        yield from openings(path, text)
        prose = prose_of_code(text, "///|//!|//")
    else:
        prose = prose_of_code(text, "#")
    for number, line in prose:
        for pattern, word, use in words:
            if pattern.search(line):
                yield f"{path}:{number}: “{word}”: use {use}"


def anchor(heading):
    """The anchor that GitHub and mdBook give a heading."""
    heading = re.sub(r"\]\([^)]*\)", "]", heading.strip().lower()).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(path):
    lines = [line for _, line in prose_with_spans(read(path))]
    return {anchor(line.lstrip("#")) for line in lines if re.match(r"#+ ", line)}


def prose_with_spans(text):
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def links(path):
    """Relative links that lead nowhere."""
    for number, line in prose_with_spans(read(path)):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, fragment = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(to):
                yield f"{path}:{number}: {target}: there is no {to}"
            elif fragment and to.endswith(".md") and fragment not in anchors(to):
                yield f"{path}:{number}: {target}: {to} has no such heading"


def summary():
    """Pages of the guide that the book does not contain."""
    book = read("shared/guide/src/SUMMARY.md")
    for path in tracked("shared/guide/src"):
        name = path.removeprefix("shared/guide/src/")
        if name.endswith(".md") and name != "SUMMARY.md" and f"({name})" not in book:
            yield f"shared/guide/src/SUMMARY.md does not contain {name}"


def main():
    paths = listed(read(LIST))
    problems = list(only_grows(paths))
    files = []
    for path in paths:
        found = tracked(path)
        if not found:
            problems.append(f"{LIST} lists {path}, and there is none")
        files += found
    files = sorted(set(files))
    words = banned()
    for path in files:
        problems += english(path, words)
        if path.endswith(".md"):
            problems += links(path)
    problems += summary()
    for problem in problems:
        print(problem)
    print(f"{len(files)} files are in plain English" if not problems else f"{len(problems)} problems in {len(files)} files")
    return 1 if problems else 0


sys.exit(main())
