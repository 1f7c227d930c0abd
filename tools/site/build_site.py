#!/usr/bin/env python3
"""Builds the documentation site: `tools/site/build_site.py BUILD_FOLDER` writes BUILD_FOLDER/site.

1. Stages docs/ under BUILD_FOLDER/site_source. Links to files outside docs/ become links to staged copies.
2. Generates the reference pages from the tool's tables and from the C headers (reference_pages.py), and the navigation
   (navigation.py).
3. Runs Doxygen over the headers and Sphinx over the staged folder, with warnings as errors.
4. Checks that every name has an entry in the reference (check_entries.py) and that no link is broken (check_site.py).
"""

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import navigation
import reference_pages

ROOT = Path(__file__).resolve().parents[2]
# Documents outside docs/ that have a page of the site.
EXTRA_PAGES = {
    "CONTRIBUTING.md": "development/contributing.md",
    "CHANGELOG.md": "development/changelog.md",
    "papers/results.md": "evidence/papers-results.md",
    "papers/comparisons.md": "evidence/papers-comparisons.md",
    "papers/errata.md": "evidence/papers-errata.md",
    "papers/README.md": "evidence/papers.md",
    "bench/README.md": "evidence/benchmark-scripts.md",
}
LINK = re.compile(r"(!?\[(?:[^\]\[]|\[[^\]]*\])*\]\()([^)\s#]+)(#[^)\s]*)?\)")


def staged_name(target):
    """Where a file of the tree is staged, relative to the staged folder."""
    if target.is_relative_to("docs"):
        name = target.relative_to("docs")
        return name.with_suffix(".md") if name.suffix == ".ipynb" else name  # notebook_page
    if str(target) in EXTRA_PAGES:
        return Path(EXTRA_PAGES[str(target)])
    return Path("_files") / target


def rewrite_links(text, page, staged, stage):
    """`page`: its path in the tree. `staged`: its path in the staged folder."""

    def replace(match):
        link = match.group(2)
        if "://" in link or link.startswith("mailto:"):
            return match.group(0)
        target = Path(os.path.normpath(page.parent / link))
        if (ROOT / target).is_dir():  # a folder of the source tree has no page
            return match.group(0).split("](")[0].lstrip("!")[1:]
        if not (ROOT / target).exists():
            return match.group(0)
        name = staged_name(target)
        if name.parts[0] == "_files":
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / target, stage / name)
            if name.suffix == ".md":  # not a page: offer the file itself
                plain = name.with_suffix(".md.txt")
                (stage / name).rename(stage / plain)
                name = plain
        return f"{match.group(1)}{os.path.relpath(name, staged.parent)}{match.group(3) or ''})"

    out, code = [], False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            code = not code
        out.append(line if code else LINK.sub(replace, line))
    return "\n".join(out)


def notebook_page(path, folder):
    """A notebook with its stored outputs as Markdown; figures become files in the folder."""
    parts, count = [], 0
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            picture = output.get("data", {}).get("image/png")
            if picture:
                count += 1
                name = f"{path.stem}-{count}.png"
                (folder / name).write_bytes(base64.b64decode("".join(picture)))
                parts.append(f"![Figure {count} of this notebook]({name})")
                continue
            text = "".join(output.get("text") or output["data"]["text/plain"]).rstrip("\n")
            parts.append(f"```text\n{text}\n```")
    parts.append(f"Download this page as a notebook: {{download}}`{path.name}`")
    return "\n\n".join(parts) + "\n"


def stage_documents(stage):
    pages = {page.relative_to(ROOT): page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")}
    pages |= {Path(page): Path(name) for page, name in EXTRA_PAGES.items() if (ROOT / page).exists()}
    for page, name in pages.items():
        (stage / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).write_text(rewrite_links((ROOT / page).read_text(), page, name, stage))
    for other in (ROOT / "docs").rglob("*"):
        if other.is_file() and other.suffix != ".md":
            name = other.relative_to(ROOT / "docs")
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(other, stage / name)
            if name.suffix == ".ipynb":
                page = rewrite_links(notebook_page(other, (stage / name).parent), other.relative_to(ROOT), name, stage)
                (stage / name.with_suffix(".md")).write_text(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="build folder, with the tool and the Python package built")
    parser.add_argument("--jobs", default="auto", help="processes of Sphinx [auto]")
    args = parser.parse_args()
    build = args.build.resolve()
    stage, site, xml = build / "site_source", build / "site", build / "site_doxygen"
    for folder in (stage, site):
        shutil.rmtree(folder, ignore_errors=True)
    stage.mkdir(parents=True)
    stage_documents(stage)
    shutil.copytree(Path(__file__).resolve().parent / "static", stage / "_static")
    reference_pages.write_pages(build / "dissent", ROOT, stage / "reference")
    shutil.rmtree(xml, ignore_errors=True)
    reference_pages.run_doxygen(ROOT, xml)
    reference_pages.write_c_pages(ROOT, stage / "reference" / "c")
    navigation.write(stage)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{build / 'python'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "DISSENT_DOXYGEN_XML": str(xml / "xml"),
    }
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", args.jobs, "-b", "html", str(stage), str(site)]
    if subprocess.run(command, env=environment).returncode:
        print("the site has warnings or errors")
        return 1
    shutil.copytree(ROOT / "docs" / "images", site / "images", dirs_exist_ok=True)  # pictures of HTML elements
    here = Path(__file__).resolve().parent
    checks = [["check_entries.py", "--tool", build / "dissent", "--site", site], ["check_site.py", "links", site]]
    failed = [check for check in checks if subprocess.run([sys.executable, here / check[0], *check[1:]], env=environment).returncode]
    if not failed:
        print(f"{site}/index.html")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
