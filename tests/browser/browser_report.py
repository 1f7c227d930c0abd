"""Reports in a real browser: of a synthetic crowd, of a hostile one, of a hostile experiment, of kinds of votes,
groups and a panel, and of real data where it is there.

usage: browser_report.py DISSENT [DATA_FOLDER]     exit 77 with the reason when there is no browser

Each report must show every chart with an accessible name, say nothing on the console, run no script but its own, sort
and filter its tables, offer CSV that reads back, and fit on a phone without scrolling sideways.
"""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import urllib.parse

import webdriver

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "docs"))
import gallery  # noqa: E402

LONG = "long-" + "x" * 65000
HOSTILE = [
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=1</script>",
    "\"><img src=x onerror=\"window.pwned=1\">",
    "' onmouseover='window.pwned=1",
    "</style></title></svg><svg onload=window.pwned=1>",
    "javascript:window.pwned=1",
    "=HYPERLINK(\"http://localhost/\")",
    "+1+cmd|' /C calc'!A0",
    "../../../etc/passwd",
    "\u202egnp.exe",
    "שלום עולם",
    "مرحبا",
    "{{7*7}}${7*7}<%= 7*7 %>",
    "&lt;script&gt;",
    "\x1b[31mred\x07",
    "👩‍👩‍👧 ❤️",
    LONG,
]


def write_hostile(path):
    """Every id and class hostile; enough votes that every chart has something to show."""
    classes = HOSTILE[:5] + [HOSTILE[6], HOSTILE[10], LONG]
    with open(path, "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f)
        rows.writerow(["task", "worker", "label"])
        for t, task in enumerate(HOSTILE * 3):
            for w in range(5):
                worker = HOSTILE[(t + 3 * w) % len(HOSTILE)]
                rows.writerow([f"{task}{t // len(HOSTILE) or ''}", worker, classes[(t + w * w // 2) % len(classes)]])


def write_texts(path):
    """What the hostile items say: hostile too, and the last one long."""
    with open(path, "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f)
        rows.writerow(["task", "text"])
        for t, task in enumerate(HOSTILE * 3):
            rows.writerow([f"{task}{t // len(HOSTILE) or ''}", f"says {HOSTILE[(t + 5) % len(HOSTILE)]} " + "word " * (t % 4 * 40)])


def check_texts(page):
    """Texts stand beside the ids, and the whole of a long one is a click away."""
    long = page.run("""
        const d = [...document.querySelectorAll('#label-next details.said')];
        return d.length ? [d.length, d[0].querySelector('summary').textContent.length, d[0].lastChild.textContent.length] : null""")
    check(long and long[1] <= 130 < long[2], f"long texts: {long}")
    check(page.run("return [...document.querySelectorAll('#label-next td')].some(c => c.textContent.startsWith('says '))"),
          "no texts beside the items to label again")
    check(page.run("return document.querySelectorAll('#most-disputed svg text title').length") > 3, "no texts in the chart")


def write_experiment(folder):
    """Two conditions, three seeds and two data sets, every name hostile; JSON is YAML."""
    with open(os.path.join(folder, "hostile-items.csv"), "w", newline="", encoding="utf-8") as f:
        rows = csv.writer(f)
        rows.writerow(["task", "text"])
        for t, task in enumerate(HOSTILE * 3):
            rows.writerow([f"{task}{t // len(HOSTILE) or ''}", f"word {t % 7} and {t % 5}"])
    names = [HOSTILE[1].replace("{", "("), HOSTILE[2], HOSTILE[3]]
    parts = {"items": "hostile-items.csv", "votes": "hostile.csv", "gold": {"method": "majority"}}
    cells = [{"name": f"{name} {data}", "data": data, "labels": labels, "baseline": f"{names[0]} {data}"}
             for data in (HOSTILE[4], HOSTILE[9]) for name, labels in zip(names, ("majority", "softmax", "standard"))]
    with open(os.path.join(folder, "hostile.yaml"), "w", encoding="utf-8") as f:
        json.dump({"name": "".join(HOSTILE[:3]), "about": HOSTILE[0],
                   "data": {HOSTILE[4]: parts, HOSTILE[9]: {**parts, "human": "softmax"}}, "human": "standard",
                   "split": {"by": "hold-out", "size": .3}, "dev": .2, "seeds": 3, "cells": cells,
                   "defaults": {"model": "text:width=4", "epochs": 3, "objective": "soft-ce"},
                   "published": {cells[1]["name"]: {"accuracy": .5}},
                   "measure": {"test": ["accuracy", "kl"]}}, f)


def run(*command):
    subprocess.run(command, check=True)


def check(claim, what):
    if not claim:
        raise AssertionError(what)


def check_quiet(page):
    entries = [e for e in page.console() if e["level"] in ("SEVERE", "WARNING")]
    check(not entries, f"the console says {entries[:3]}")
    check(page.run("return window.pwned") is None, "an injected script ran")
    check(page.run("return document.scripts.length") == 1, "a script that is not ours")
    check(page.run("return document.querySelectorAll('img,iframe,object,embed,form,base').length") == 0,
          "elements that are not ours")
    handlers = page.run("""return [...document.querySelectorAll('*:not(.tip)')].flatMap(e => [...e.attributes])
        .filter(a => a.name.startsWith('on') || a.name === 'style' || /^javascript:/i.test(a.value)).map(a => a.name)""")
    check(not handlers, f"attributes that are not ours: {handlers[:5]}")
    check(page.run("return performance.getEntriesByType('resource').length") == 0, "something was loaded")


def check_charts(page, least):
    names = page.run("""return [...document.querySelectorAll('svg')].map(
        s => s.getAttribute('role') + '|' + (s.getAttribute('aria-label') || '').trim())""")
    check(len(names) >= least, f"{len(names)} charts, at least {least} expected")
    for name in names:
        role, _, label = name.partition("|")
        check(role == "img" and len(label) > 20, f"a chart without a name: {name[:80]}")
    empty = page.run("""return [...document.querySelectorAll('figure')].filter(f => !f.querySelector('h3').textContent.trim()
        || f.querySelector('figcaption p').textContent.trim().length < 15).map(f => f.id)""")
    check(not empty, f"figures without a caption: {empty}")
    bare = page.run("""return [...document.querySelectorAll('figure')].filter(f => f.querySelector('svg')
        && !(f.querySelector('table') && f.querySelector('a[download]'))).map(f => f.id)""")
    check(not bare, f"charts without their numbers: {bare}")
    bad = page.run("""return [...document.querySelectorAll('svg *')].flatMap(e => [...e.attributes])
        .filter(a => /NaN|inf|undefined/.test(a.value)).map(a => a.name + '=' + a.value)""")
    check(not bad, f"marks at no place: {bad[:3]}")


def check_csv(page):
    links = page.run("return [...document.querySelectorAll('a[download]')].map(a => [a.download, a.href])")
    for name, href in links:
        head, _, body = href.partition(",")
        check(head == "data:text/csv;charset=utf-8" and name.endswith(".csv"), f"a link of another kind: {name}")
        rows = list(csv.reader(io.StringIO(urllib.parse.unquote(body), newline="")))
        check(len({len(r) for r in rows}) == 1 and len(rows) > 1, f"{name} is ragged")
        formulas = [c for r in rows for c in r if c[:1] in "=@+\t" and c]
        check(not formulas, f"{name} holds a formula: {formulas[:1]}")
    return len(links)


def check_tables(page):
    """Each table sorts by its first number, down and up, and filters."""
    sorted_tables = page.run("""
        let wrong = [], n = 0;
        for (const t of document.querySelectorAll('table.sort')) {
            const th = [...t.tHead.rows[0].cells].findIndex(c => c.className === 'n');
            if (th < 0 || t.tBodies[0].rows.length < 2) continue;
            const read = () => [...t.tBodies[0].rows].map(r => parseFloat(r.cells[th].textContent.replace(/[,\\s%]/g, '')))
                .filter(x => !isNaN(x));
            const button = t.tHead.rows[0].cells[th].querySelector('button');
            button.click();
            const down = read();
            button.click();
            const up = read();
            const falls = down.every((x, i) => !i || down[i - 1] >= x), rises = up.every((x, i) => !i || up[i - 1] <= x);
            if (!falls || !rises || t.tHead.rows[0].cells[th].getAttribute('aria-sort') !== 'ascending')
                wrong.push(t.closest('figure').id);
            n++;
        }
        return [n, wrong];""")
    check(not sorted_tables[1] and sorted_tables[0] >= 3, f"tables that do not sort: {sorted_tables}")
    filtered = page.run("""
        let wrong = [], n = 0;
        for (const box of document.querySelectorAll('.filter input')) {
            const t = box.closest('figure').querySelector('table.sort'), rows = [...t.tBodies[0].rows];
            const want = rows[rows.length - 1].cells[0].textContent;
            box.value = want;
            box.dispatchEvent(new Event('input'));
            const shown = rows.filter(r => !r.hidden);
            if (!shown.length || shown.some(r => !r.textContent.toLowerCase().includes(want.toLowerCase())))
                wrong.push(t.closest('figure').id);
            box.value = '';
            box.dispatchEvent(new Event('input'));
            if (rows.some(r => r.hidden)) wrong.push(t.closest('figure').id + ' stays filtered');
            n++;
        }
        return [n, wrong];""")
    check(not filtered[1] and filtered[0] >= 1, f"tables that do not filter: {filtered}")


def check_layout(page):
    """What a designer would look for: no cut headings, no cut rows, no marks in a heap, a number in every coloured cell."""
    cut = page.run("""return [...document.querySelectorAll('thead th')].filter(h => h.getBoundingClientRect().width &&
        h.scrollWidth > h.clientWidth + 1).map(h => h.closest('figure').id + ': ' + h.textContent)""")
    check(not cut, f"headings that are cut: {cut[:3]}")
    rows = page.run("""return [...document.querySelectorAll('.scroll')].filter(s => s.getBoundingClientRect().height &&
        s.scrollHeight > s.clientHeight + 2).map(s => s.closest('figure').id)""")
    check(not rows, f"tables that are cut below: {rows}")
    wide = page.run("""return [...document.querySelectorAll('.scroll')].filter(s => {
        const f = s.closest('figure').getBoundingClientRect(), r = s.getBoundingClientRect();
        return r.width && (r.right > f.right || r.left < f.left) }).map(s => s.closest('figure').id)""")
    check(not wide, f"tables that stick out of their card: {wide}")
    alone = page.run("""return [...document.querySelectorAll('.figures')].flatMap(g => {
        const rows = {};
        for (const f of g.querySelectorAll(':scope > figure.half')) {
            const top = Math.round(f.getBoundingClientRect().top);
            (rows[top] = rows[top] || []).push(f.id);
        }
        return Object.values(rows).filter(r => r.length < 2).flat() })""")
    check(not alone, f"figures half a row wide with nothing beside them: {alone}")
    bare = page.run("""return [...document.querySelectorAll('svg')].flatMap(s => {
        const cells = [...s.querySelectorAll('rect[class^=h]')].filter(r => /:/.test(r.textContent) && r.querySelector('title'));
        const numbers = s.querySelectorAll('text.c').length;
        return numbers && numbers < cells.length ? [s.closest('figure').id + ' ' + numbers + ' of ' + cells.length] : [] })""")
    check(not bare, f"coloured cells without their number: {bare}")
    heaps = page.run("""return [...document.querySelectorAll('#worker-quality svg')].map(s => {
        const p = [...s.querySelectorAll('.p')].map(m => m.getBoundingClientRect());
        let covered = 0;
        for (let i = 0; i < p.length; i++)
            covered += p.some((q, j) => j < i && Math.abs(q.x - p[i].x) < p[i].width / 3 && Math.abs(q.y - p[i].y) < p[i].height / 3);
        return p.length ? covered / p.length : 0 })""")
    check(all(share <= .05 for share in heaps), f"marks that cover each other: {heaps}")
    single = page.run("""return [...document.querySelectorAll('figure')].filter(f => f.id === 'votes-per-item' &&
        f.querySelectorAll('rect').length < 2).map(f => f.id)""")
    check(not single, "a chart of a single bar")


def check_sizes(page):
    """Letters of a chart are those of the page around it, more or less, wherever it stands."""
    large = page.run("""return [...document.querySelectorAll('figure svg[viewBox]')].map(s =>
        [s.closest('figure').id, s.getBoundingClientRect().width / s.viewBox.baseVal.width]).filter(x => x[1] > 1.45)""")
    check(not large, f"charts that are blown up: {large[:3]}")


def check_more(page):
    """Long tables show their first rows, and all of them at a click or a key."""
    wrong = page.run("""
        let wrong = [];
        for (const b of document.querySelectorAll('button.more')) {
            const d = b.closest('details');
            if (d) d.open = true;
            const t = b.previousElementSibling.querySelector('table'), n = t.tBodies[0].rows.length;
            const shown = () => [...t.tBodies[0].rows].filter(r => r.getBoundingClientRect().height).length;
            const before = shown();
            b.click();
            if (before !== 10 || shown() !== n || b.getAttribute('aria-expanded') !== 'true') wrong.push([t.closest('figure').id, before, shown(), n]);
            b.click();
            if (shown() !== 10) wrong.push(t.closest('figure').id + ' stays long');
            if (d) d.open = false;
        }
        return wrong;""")
    check(not wrong, f"tables that do not unfold: {wrong}")


def check_digits(page):
    """Numbers of a column have the same number of decimals."""
    wrong = page.run("""
        let wrong = [];
        for (const t of document.querySelectorAll('table.sort'))
            [...t.tHead.rows[0].cells].forEach((h, i) => {
                if (h.className !== 'n') return;
                const digits = new Set([...t.tBodies[0].rows].map(r => r.cells[i].firstChild.textContent).filter(x => /^-?[0-9.,]+(\\s%)?$/.test(x))
                    .map(x => (x.replace(/[^0-9.]/g, '').split('.')[1] || '').length));
                if (digits.size > 1) wrong.push([t.closest('figure').id, h.textContent, [...digits]]);
            });
        return wrong;""")
    check(not wrong, f"columns of varying digits: {wrong[:3]}")


def check_phone(page):
    for width in (360, 320):
        page.size(width, 740, mobile=True)
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        wide = page.run("return document.documentElement.scrollWidth")
        check(wide <= width, f"{wide} pixels wide on a screen of {width}")
    letters = page.run("""return Math.min(...[...document.querySelectorAll('.chart > svg')].map(
        s => 13 * s.getBoundingClientRect().width / s.viewBox.baseVal.width))""")
    check(letters >= 7.5, f"letters of {letters:.1f} pixels on a phone")
    page.size(1280)


def check_dark(page):
    read = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(read)
    page.dark()
    check(page.run(read) != light, "dark looks like light")
    page.dark(False)


def check_policy(page):
    policy = page.run("return document.querySelector('meta[http-equiv]').content")
    check("default-src 'none'" in policy and "unsafe" not in policy, f"policy: {policy}")
    page.run("""const s = document.createElement('script'); s.textContent = 'window.pwned = 1';
        document.body.appendChild(s);""")
    check(page.run("return window.pwned") is None, "the policy lets a foreign script run")


def check_structure(page):
    """What a screen reader needs: one h1, no level left out, captions of tables, ids once, and a link to the answer."""
    levels = page.run("return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    assert levels.count(1) == 1 and all(b <= a + 1 for a, b in zip(levels, levels[1:])), f"order of headings: {levels}"
    missing = page.run("return [...document.querySelectorAll('table')].filter(t => !t.caption || !t.caption.textContent).length")
    assert missing == 0, f"{missing} tables without a caption"
    ids = page.run("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)), "an id stands twice"
    target = page.run("return document.querySelector('a.skip').hash.slice(1)")
    assert target in ids, "the link to the answer leads nowhere"


def check_marks(page):
    """The name of a mark appears at once under the pointer, as text, and goes away with Escape."""
    point = ("const m = document.querySelector('svg title').parentNode; arguments[0].text = m.querySelector('title').textContent;"
             "m.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: 20, clientY: 20}));"
             "const t = document.querySelector('.tip'); return [arguments[0].text, t.textContent, t.hidden, t.children.length]")
    name, shown, hidden, children = page.run(point, {})
    assert shown == name and not hidden and children == 0, f"the name of a mark: {shown!r} instead of {name!r}"
    page.run("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert page.run("return document.querySelector('.tip').hidden"), "Escape does not hide the name of a mark"


def check_page(page, path, charts):
    page.open(path)
    check_quiet(page)
    check_structure(page)
    check_marks(page)
    check_charts(page, charts)
    links = check_csv(page)
    page.size(1400)
    check_layout(page)
    check_sizes(page)
    check_more(page)
    check_digits(page)
    check_tables(page)
    check_phone(page)
    check_dark(page)
    if os.path.basename(path) == "hostile.html":
        check_texts(page)
    check_quiet(page)
    check_policy(page)
    page.console()  # what the policy said about our foreign script
    print(f"{os.path.basename(path)}: {os.path.getsize(path)} bytes, {links} tables: fine")


def main():
    dissent = sys.argv[1]
    data = os.environ.get("DISSENT_DATA") or (sys.argv[2] if len(sys.argv) > 2 else "")
    browser, driver = webdriver.find()
    if not browser or not driver:
        print("skipped: needs chromium and chromedriver (Debian: chromium, chromium-driver)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)

        run(dissent, "synth", "--model", "spammer", "--items", "400", "--workers", "30", "--gold", at("gold.csv"),
            "--text", at("texts.csv"), "-o", at("votes.csv"), "-q")
        run(dissent, "labels", at("votes.csv"), "--method", "glad", "-o", at("glad.csv"), "-q")
        run(dissent, "labels", at("votes.csv"), "--method", "softmax", "-o", at("soft.csv"), "-q")
        for name, objective, runs in (("hard", "silver", "1"), ("soft", "soft-ce", "3")):
            run(dissent, "train", "--items", at("texts.csv"), "--labels", at("soft.csv"), "--objective", objective, "--dev",
                ".2", "--epochs", "4", "--runs", runs, "-o", at(name), "-q")
        run(dissent, "report", "--model", "</svg>\"hard=" + at("hard"), "--model", "soft=" + at("soft"),
            "--votes", at("votes.csv"), "--gold", at("gold.csv"), "--pred", "a=" + at("glad.csv"),
            "--pred", "b=" + at("soft.csv"), "--human-labels", "standard", "-o", at("synthetic.html"), "-q")
        write_hostile(at("hostile.csv"))
        write_texts(at("hostile-texts.csv"))
        run(dissent, "labels", at("hostile.csv"), "--method", "softmax", "-o", at("hostile-labels.csv"), "-q")
        run(dissent, "report", "--votes", at("hostile.csv"), "--pred", HOSTILE[0].replace("=", ":") + "=" +
            at("hostile-labels.csv"), "--human-labels", "standard", "--labels", "</svg><b>=" + at("hostile-labels.csv"), "--title", "".join(HOSTILE[:5]),
            "--texts", at("hostile-texts.csv"), "-o", at("hostile.html"), "-q")
        reports = [("synthetic.html", 20), ("hostile.html", 12)]
        parts = subprocess.run([dissent, "--version", "--verbose"], check=True, capture_output=True, text=True).stdout
        if "libyaml: absent" in parts or "SQLite: absent" in parts:
            print("the report of an experiment is skipped: no libyaml or SQLite")
        else:
            write_experiment(folder)
            run(dissent, "experiment", "run", at("hostile.yaml"), "--store", at("store"), "-q")
            run(dissent, "experiment", "report", at("hostile.yaml"), "--store", at("store"), "-o", at("experiment.html"),
                "-q")
            reports.append(("experiment.html", 8))
        for name, charts in (("numeric", 2), ("pairwise", 2), ("groups", 10), ("panel", 10)):
            os.mkdir(at(name))
            make, title = gallery.PAGES[name][:2]
            what = make(random.Random(name), at(name))
            subprocess.run([os.path.abspath(dissent), "report", *what, "--title", title, "--resamples", "100", "-q", "-o", at(name + ".html")],
                           cwd=at(name), check=True)
            reports.append((name + ".html", charts))
        rte = os.path.join(data, "rte_snow")
        if data and os.path.exists(os.path.join(rte, "annotations.csv")):
            run(dissent, "report", "--votes", os.path.join(rte, "annotations.csv"), "--gold", os.path.join(rte, "gold.csv"),
                "-o", at("rte.html"), "-q")
            reports.append(("rte.html", 10))
        else:
            print("the report of a real data set is skipped: no data folder")
        try:
            page = webdriver.Browser(browser, driver)
        except (RuntimeError, OSError) as e:
            print(f"skipped: the browser does not start: {e}")
            return 77
        failed = 0
        try:
            for name, charts in reports:
                try:
                    check_page(page, at(name), charts)
                except AssertionError as e:
                    print(f"{name}: {e}")
                    failed = 1
        finally:
            page.close()
        return failed


if __name__ == "__main__":
    sys.exit(main())
