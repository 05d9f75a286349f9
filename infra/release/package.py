"""Packs a built binary so that it can be installed without Rust.

    python3 infra/release/package.py --binary PATH --target TRIPLE --folder FOLDER

writes to the folder

- `dormouse-VERSION-TRIPLE.tar.gz` and its `.sha256`: what `cargo binstall dormouse` and a person with `curl` download;
- `dormouse_cli-VERSION-py3-none-PLATFORM.whl`: `pip install dormouse-cli`;
- `dormouse-cli-OS-CPU-VERSION.tgz`, which carries the binary, and `dormouse-cli-VERSION.tgz`, which starts the binary of
  the machine that it is installed on: `npm install --global dormouse-cli`.

All are the same bytes for the same binary: times and owners are left out.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import pathlib
import re
import stat
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = "Long-running workflows that cost nothing while they sleep; runs Elsa Workflows 3 definitions"
LICENSE = "Apache-2.0"

# Each target that is built, with npm's names of its system and processor.
TARGETS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64"),
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "aarch64-unknown-linux-gnu": ("linux", "arm64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
}


def version():
    text = (ROOT / "Cargo.toml").read_text()
    found = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', text, re.MULTILINE)
    return found.group(1)


def platform_tag(target, binary):
    """The wheel's platform: the oldest system that can run the binary, read from what it links."""
    processor = target.split("-")[0]
    if "apple" in target:
        return "macosx_11_0_arm64" if processor == "aarch64" else "macosx_10_12_x86_64"
    needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", binary)]
    if needed:
        return f"manylinux_2_{max(needed)}_{processor}"
    # A static binary runs on any Linux.
    return f"manylinux_2_17_{processor}.musllinux_1_1_{processor}"


def tar(path, files):
    """Writes a tar.gz of (name, bytes, is executable)."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, is_executable in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755 if is_executable else 0o644
            archive.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(data.getvalue(), compresslevel=9, mtime=0))


def archive(folder, target, binary):
    name = f"dormouse-{version()}-{target}"
    files = [(f"{name}/dormouse", binary, True)]
    for document in ("README.md", "LICENSE", "CHANGELOG.md"):
        files.append((f"{name}/{document}", (ROOT / document).read_bytes(), False))
    path = folder / f"{name}.tar.gz"
    tar(path, files)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")
    return path


def wheel(folder, target, binary):
    number, platform = version(), platform_tag(target, binary)
    info = f"dormouse_cli-{number}.dist-info"
    tags = "".join(f"Tag: py3-none-{part}\n" for part in platform.split("."))
    metadata = (
        f"Metadata-Version: 2.1\nName: dormouse-cli\nVersion: {number}\nSummary: {SUMMARY}\n"
        f"License: {LICENSE}\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
    )
    files = [
        (f"dormouse_cli-{number}.data/scripts/dormouse", binary, True),
        (f"{info}/METADATA", metadata.encode() + (ROOT / "README.md").read_bytes(), False),
        (f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: dormouse\nRoot-Is-Purelib: false\n{tags}".encode(), False),
        (f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), False),
    ]
    record = ""
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), False))
    path = folder / f"dormouse_cli-{number}-py3-none-{platform}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, is_executable in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = stat.S_IFREG | (0o755 if is_executable else 0o644)
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return path


def npm(folder, target, binary):
    system, processor = TARGETS[target]
    number = version()
    license = ("package/LICENSE", (ROOT / "LICENSE").read_bytes(), False)
    common = {"version": number, "description": SUMMARY, "license": LICENSE}

    name = f"dormouse-cli-{system}-{processor}"
    manifest = {"name": name, **common, "os": [system], "cpu": [processor], "files": ["dormouse"]}
    carrier = folder / f"{name}-{number}.tgz"
    tar(carrier, [package_json(manifest), ("package/dormouse", binary, True), license])

    carriers = sorted({f"dormouse-cli-{system}-{processor}" for system, processor in TARGETS.values()})
    manifest = {
        "name": "dormouse-cli",
        **common,
        "bin": {"dormouse": "dormouse.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {carrier: number for carrier in carriers},
    }
    starter = folder / f"dormouse-cli-{number}.tgz"
    script = ("package/dormouse.js", (ROOT / "infra/release/dormouse.js").read_bytes(), True)
    readme = ("package/README.md", (ROOT / "README.md").read_bytes(), False)
    tar(starter, [package_json(manifest), script, readme, license])
    return carrier, starter


def package_json(manifest):
    return ("package/package.json", (json.dumps(manifest, indent=2) + "\n").encode(), False)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", type=pathlib.Path, required=True)
    arguments.add_argument("--target", choices=sorted(TARGETS), required=True)
    arguments.add_argument("--folder", type=pathlib.Path, required=True)
    given = arguments.parse_args()
    try:
        binary = given.binary.read_bytes()
    except OSError as error:
        sys.exit(f"cannot read the binary: {error}; build it first, see infra/release/build.sh")
    given.folder.mkdir(parents=True, exist_ok=True)
    for make in (archive, wheel, npm):
        made = make(given.folder, given.target, binary)
        for path in made if isinstance(made, tuple) else (made,):
            print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
