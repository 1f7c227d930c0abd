#!/usr/bin/env python3
"""Checks the built documentation site.

    check_site.py links SITE            every link, anchor, image, script and style sheet within the site exists
    check_site.py browser SITE SHOTS    pages in Chromium at 1,400 and 390 px: no horizontal overflow, no missing image, no message
                                        on the console; screenshots in SHOTS. Exit status 77 if no browser is installed.
"""

import base64
import html.parser
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# A page of each kind; the two last ones have the widest tables.
PAGES = [
    "index.html",
    "guides/index.html",
    "guides/training.html",
    "concepts/default-labels.html",
    "reference/cli/labels.html",
    "reference/tables/methods.html",
    "reference/python/dissent.html",
    "reference/c/votes.html",
    "evidence/gpu.html",
    "evidence/auto-weights.html",
]
WIDTHS = {1400: 900, 390: 844}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.ids.add(values["id"])
        if tag == "a" and values.get("name"):
            self.ids.add(values["name"])
        for name in ("href", "src"):
            if values.get(name) and tag != "base":
                self.links.append(values[name])


def check_links(site):
    pages = {path: Page(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    errors, n = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("data:"):
                continue
            n += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target = target / "index.html"
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                errors.append(f"{path.relative_to(site)}: no file {link}")
            elif anchor and target in pages and anchor not in pages[target].ids:
                errors.append(f"{path.relative_to(site)}: no anchor {link}")
    print("\n".join(errors + [f"{n} links within {len(pages)} pages, {len(errors)} broken"]))
    return 1 if errors or len(pages) < 50 else 0


OVERFLOW = """
const wide = document.documentElement.clientWidth;
const found = [];
for (const element of document.querySelectorAll('body *')) {
    const box = element.getBoundingClientRect();
    if (box.right <= wide + 1 || !box.width || getComputedStyle(element).position === 'fixed') continue;
    let parent = element.parentElement, clipped = false;
    for (; parent && parent !== document.body; parent = parent.parentElement) {
        if (getComputedStyle(parent).overflowX !== 'visible' || getComputedStyle(parent).position === 'fixed') { clipped = true; break; }
    }
    if (!clipped) found.push(element.tagName + '.' + element.className);
}
return [document.documentElement.scrollWidth, wide, found.slice(0, 3)];
"""
IMAGES = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.getAttribute('src'))"


def check_browser(site, shots):
    sys.path.insert(0, str(ROOT / "tests" / "browser"))
    import webdriver

    browser, driver = webdriver.find()
    if not browser or not driver:
        print("skipped: chromium and chromedriver are not installed")
        return 77
    shots.mkdir(parents=True, exist_ok=True)
    errors = []
    window = webdriver.Browser(browser, driver)
    try:
        for name in PAGES:
            if not (site / name).exists():
                errors.append(f"{name}: the page does not exist")
                continue
            for width, height in WIDTHS.items():
                window.size(width, height, mobile=width < 600)
                window.open(site / name)
                scroll, wide, found = window.run(OVERFLOW)
                where = f"{name} at {width} px"
                if scroll > wide or found:
                    errors.append(f"{where}: content is {scroll} px wide in a window of {wide} px: {', '.join(found)}")
                errors += [f"{where}: image {source} is missing" for source in window.run(IMAGES)]
                errors += [f"{where}: console: {entry['message']}" for entry in window.console() if entry["level"] in ("SEVERE", "WARNING")]
                shot = window.devtools("Page.captureScreenshot", format="png")
                stem = name.removesuffix(".html").replace("/", "-")
                (shots / f"{stem}-{width}.png").write_bytes(base64.b64decode(shot["data"]))
    finally:
        window.close()
    print("\n".join(errors + [f"{len(PAGES)} pages at {' and '.join(map(str, WIDTHS))} px, {len(errors)} problems; screenshots in {shots}"]))
    return 1 if errors else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "links":
        return check_links(Path(sys.argv[2]).resolve())
    if len(sys.argv) == 4 and sys.argv[1] == "browser":
        return check_browser(Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve())
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
