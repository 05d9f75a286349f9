"""The bill of materials of the binary `dormouse`, as CycloneDX 1.5 JSON on standard output: every package that is built into it, with
its version, licence, source and checksum, and what depends on what. The same checkout gives the same bytes.

    python3 .ci/sbom.py > dormouse.cdx.json"""

import json
import subprocess
import sys
import tomllib
import uuid

ROOT = "dormouse"
FEATURES = "dormouse/aws"


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--features", FEATURES]
    host = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    target = next(line.split()[1] for line in host.splitlines() if line.startswith("host:"))
    command += ["--filter-platform", target]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def built(nodes, root):
    """Ids of what is built into the root: its dependencies that are not for tests alone, and theirs."""
    reached, left = {}, [root]
    while left:
        package = left.pop()
        if package in reached:
            continue
        kinds = lambda dep: any(kind["kind"] != "dev" for kind in dep["dep_kinds"])
        reached[package] = sorted(dep["pkg"] for dep in nodes[package]["deps"] if kinds(dep))
        left += reached[package]
    return reached


def main():
    data = metadata()
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    root = next(id for id, package in packages.items() if package["name"] == ROOT)
    with open("Cargo.lock", "rb") as file:
        lock = tomllib.load(file)["package"]
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock if "checksum" in p}
    reference = lambda id: f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"

    def component(id):
        package = packages[id]
        made = {
            "type": "application" if id == root else "library",
            "bom-ref": reference(id),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(id),
        }
        if package["description"]:
            made["description"] = " ".join(package["description"].split())
        if package["license"]:
            made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        checksum = checksums.get((package["name"], package["version"]))
        if checksum:
            made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["repository"]:
            made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        return made

    reached = built(nodes, root)
    components = [component(id) for id in sorted(reached, key=reference) if id != root]
    dependencies = [
        {"ref": reference(id), "dependsOn": [reference(dep) for dep in reached[id]]} for id in sorted(reached, key=reference)
    ]
    content = {"components": components, "dependencies": dependencies}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    json.dump(
        {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "serialNumber": f"urn:uuid:{serial}",
            "version": 1,
            "metadata": {"component": component(root)},
            **content,
        },
        sys.stdout,
        indent=1,
    )
    print()
    names = {entry["name"] for entry in components}
    # Had it missed what everything stands on, it would be of no use to anybody.
    if missing := {"tokio", "rustls", "hyper", "libsqlite3-sys", "rquickjs-sys"} - names:
        sys.exit(f"the bill of materials lacks {', '.join(sorted(missing))}")
    print(f"bill of materials: {len(components)} packages", file=sys.stderr)


main()
