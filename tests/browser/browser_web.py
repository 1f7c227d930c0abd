"""The page of web/ in a real browser: files are dropped, columns are mapped, everything runs and is downloaded, without a network.

usage: browser_web.py DISSENT FOLDER     FOLDER has dissent.html; exit 77 with the reason when there is no browser

Labels that are downloaded must have the bytes of DISSENT (baseline kernels). Screenshots go to FOLDER/shots.
"""
import base64
import functools
import http.server
import io
import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

import webdriver

ROOT = Path(__file__).resolve().parents[2]
SECONDS = float(os.environ.get("DISSENT_WEB_SECONDS", "5"))  # for a million votes
# Exports with several questions: the page asks which one is the label, and the test answers.
QUESTIONS = {"argilla.json": "sentiment", "label-studio.json": "sentiment", "label-studio-min.csv": "sentiment",
             "label-studio-min.json": "topics", "mlflow.json": "correctness", "mturk.csv": "Answer.sentiment",
             "potato.csv": "sentiment", "potato.jsonl": "clarity"}


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.requests = [*getattr(self.server, "requests", []), self.path]
        super().do_GET()

    def log_message(self, format, *args):
        pass


def check(claim, what):
    if not claim:
        raise AssertionError(what)


class Page:
    def __init__(self, browser, url, downloads):
        self.browser, self.url, self.downloads = browser, url, downloads
        browser.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
        browser.devtools("Network.enable")
        self.offline(True)

    def offline(self, on):
        self.browser.devtools("Network.emulateNetworkConditions", offline=on, latency=0, downloadThroughput=-1, uploadThroughput=-1)

    def run(self, script, *args):
        return self.browser.run(script, *args)

    def open(self):
        self.browser.send("POST", "/url", {"url": self.url})

    def wait(self, condition, what, seconds=60):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            if self.run(f"return Boolean({condition})"):
                return time.monotonic() - begin
            time.sleep(.02)
        message = self.run("return [...document.querySelectorAll('.message')].map(m => m.textContent).join('|')")
        raise AssertionError(f"{what}: not within {seconds} s; the page says {message!r}")

    def drop(self, files):
        """Files (name: bytes) dropped on the page, as events of a drag."""
        data = {name: base64.b64encode(content).decode() for name, content in files.items()}
        self.run("""const transfer = new DataTransfer();
            for (const [name, text] of Object.entries(arguments[0]))
                transfer.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
            for (const kind of ['dragenter', 'dragover', 'drop'])
                document.getElementById('drop').dispatchEvent(new DragEvent(kind, {dataTransfer: transfer, bubbles: true, cancelable: true}));""", data)

    def choose_folder(self, files):
        """Files (path: bytes) of a folder, as its input receives them."""
        data = {name: base64.b64encode(content).decode() for name, content in files.items()}
        self.run("""const files = Object.entries(arguments[0]).map(([path, text]) => Object.defineProperty(
                new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], path.split('/').pop()), 'webkitRelativePath', {value: path}));
            const input = Object.defineProperty(document.getElementById('folder'), 'files', {value: files, configurable: true});
            input.dispatchEvent(new Event('change'));""", data)

    def choose(self, words):
        """Presses the choice below the message that contains these words, or the first one."""
        self.run("const all = [...document.querySelectorAll('#choices button')]; (all.find(b => b.textContent.includes(arguments[0])) || all[0]).click()", words)

    def understood(self, seconds=60):
        """(whether the page can compute labels, its message) about the file that was opened"""
        self.wait("document.querySelector('#understood.good, #understood.bad, #understood.ask') || document.querySelector('#start-message').textContent",
                  "an answer about the file", seconds)
        return self.run("""const u = document.getElementById('understood'), start = document.getElementById('start-message');
            return start.textContent ? [false, start.textContent] : [u.classList.contains('good'), u.textContent]""")

    def finish(self, seconds=120):
        self.wait("document.getElementById('progress').hidden && !document.getElementById('results').hidden", "the end of the run", seconds)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def download(self, selector, name):
        target = self.downloads / name
        target.unlink(missing_ok=True)
        self.click(selector)
        for _ in range(200):
            if target.exists() and not list(self.downloads.glob("*.crdownload")):
                return target.read_bytes()
            time.sleep(.05)
        raise AssertionError(f"{name} was not downloaded")

    def key(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.browser.devtools("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")

    def tab_to(self, selector):
        for _ in range(60):
            if self.run("return document.activeElement.matches(arguments[0])", selector):
                return
            self.key("Tab", 9)
        raise AssertionError(f"{selector} cannot be reached with the Tab key")

    def shot(self, name):
        height = min(self.run("return document.documentElement.scrollHeight"), 2400)
        width = self.run("return innerWidth")
        picture = self.browser.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                                        clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        folder = Path(sys.argv[2], "shots")
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))

    def check_quiet(self):
        entries = [e for e in self.browser.console() if e["level"] in ("SEVERE", "WARNING")]
        check(not entries, f"the console has {entries[:3]}")
        loaded = self.run("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !/^(data|blob):/.test(n))")
        check(not loaded, f"something was loaded: {loaded[:3]}")

    def check_narrow(self, name):
        self.browser.size(390, 844, mobile=True)
        wide = self.run("return document.documentElement.scrollWidth")
        self.shot(f"{name}-390")
        self.browser.size(1280)
        check(wide <= 390, f"{name}: {wide} pixels wide on a screen of 390")

    def check_names(self, name):
        """Everything that can be operated has a name for screen readers."""
        nodes = self.browser.devtools("Accessibility.getFullAXTree")["nodes"]
        roles = {"button", "combobox", "textbox", "checkbox", "tab", "tabpanel", "link", "Iframe", "progressbar", "region", "image"}
        bare = [n["role"]["value"] for n in nodes if not n.get("ignored") and n.get("role", {}).get("value") in roles
                and not n.get("name", {}).get("value", "").strip()]
        check(not bare, f"{name}: without a name for screen readers: {bare}")


def native(tool, folder, *arguments):
    variables = {**os.environ, "DISSENT_ISA": "baseline"}
    subprocess.run([tool, *arguments, "-q"], cwd=folder, env=variables, check=True)


def expected_labels(tool, folder, *arguments):
    native(tool, folder, "labels", *arguments, "-o", "expected.csv")
    return Path(folder, "expected.csv").read_bytes()


def test_example(page, tool, folder):
    """The example, at all sizes and colours; every file of the archive; the report in its frame."""
    page.open()
    page.wait("document.getElementById('drop')", "the page")
    policy = page.run("return document.querySelector('meta[http-equiv]').content")
    check("default-src 'none'" in policy and "connect-src" not in policy and "unsafe-inline" not in policy, f"policy: {policy}")
    page.shot("start")
    page.check_narrow("start")
    page.check_names("start")
    page.click("#example")
    check(page.understood()[0], "the example is not understood")
    page.shot("columns")
    page.check_narrow("columns")
    page.check_names("columns")
    page.click("#run")
    page.finish()
    steps = page.run("return [...document.querySelectorAll('[role=tab]')].map(t => [t.dataset.step, t.className])")
    check([s for s, _ in steps] == ["labels", "review", "agree", "panel", "report", "files"], f"steps: {steps}")
    check(all(state == "done" for step, state in steps if step != "files"), f"steps: {steps}")
    for step, _ in steps:
        page.click(f"#tab-{step}")
        time.sleep(.3)
        page.shot(f"result-{step}")
        page.check_narrow(f"result-{step}")
        page.check_names(f"result-{step}")
    page.browser.dark()
    page.click("#tab-labels")
    page.shot("result-dark")
    page.browser.dark(False)
    archive = zipfile.ZipFile(io.BytesIO(page.download("#save-all", "dissent-results.zip")))
    check(archive.testzip() is None, "the archive is damaged")
    check({"labels.csv", "labels.json", "review.csv", "annotators.csv", "agreement.csv", "panel.csv", "panel-labels.csv", "report.html"}
          == set(archive.namelist()), f"the archive has {archive.namelist()}")
    frame = page.browser.send("POST", "/element", {"using": "css selector", "value": "iframe"})
    page.click("#tab-report")
    answer = page.run("return document.querySelector('#answer h3').textContent")
    page.browser.send("POST", "/frame", {"id": frame})
    check(page.run("return document.querySelector('.verdict h2').textContent") == answer, f"the answer at the top is not that of the report: {answer}")
    buttons, style = page.run("return [document.querySelectorAll('th button').length, getComputedStyle(document.querySelector('.tiles')).display]")
    page.browser.send("POST", "/frame", {"id": None})
    check(buttons > 10 and style == "flex", f"the report in its frame has {buttons} buttons, display {style}")
    page.check_quiet()


def test_mapping(page, tool, folder):
    """A table without known names: the first guess, another choice, and the labels that follow."""
    rows = "".join(f"{i},{'uvw'[w]},{'xy'[(i * w + i) % 2]}\n" for i in range(40) for w in range(3))
    Path(folder, "table.csv").write_text("a,b,c\n" + rows)
    page.open()
    page.drop({"table.csv": Path(folder, "table.csv").read_bytes()})
    good, text = page.understood()
    check(good and "guessed" in text, f"a table without known names: {text}")
    page.run("""const s = document.querySelectorAll('#preview select');
        check = [...s].map(x => x.value).join();
        for (const [i, role] of [[0, 'worker'], [1, 'task'], [2, 'label']]) {
            const select = document.querySelectorAll('#preview select')[i];
            select.value = role;
            select.dispatchEvent(new Event('change', {bubbles: true}));
        }""")
    check(page.run("return check") == "task,worker,label", "the guess of the columns")
    page.wait("document.querySelector('#understood.good')?.textContent.includes('40 annotators')", "the columns that were chosen")
    page.click("#run")
    page.finish()
    found = page.download("#panel-labels button", "labels.csv")
    check(found == expected_labels(tool, folder, "table.csv", "--worker", "a", "--task", "b", "--label", "c"), "labels have other bytes")
    page.check_quiet()


def test_exports(page, tool, folder):
    """Every file and folder of examples/exports is read, once questions are answered, and all steps run."""
    used = set()
    for path in sorted((ROOT / "examples" / "exports").iterdir()):
        page.open()
        if path.is_dir():
            page.choose_folder({str(f.relative_to(path.parent)): f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file()})
        else:
            page.drop({path.name: path.read_bytes()})
        good, text = page.understood()
        check(("several questions" in text) == (path.name in QUESTIONS), f"{path.name}: {text}")
        for _ in range(3):
            if good:
                break
            page.choose(QUESTIONS.get(path.name, ""))
            good, text = page.understood()
        check(good, f"{path.name}: {text}")
        used.add(page.run("return document.getElementById('preset').value"))
        page.click("#run")
        page.finish()
        failed = page.run("return [...document.querySelectorAll('[role=tab].failed')].map(t => document.getElementById('panel-' + t.dataset.step).textContent)")
        check(not failed, f"{path.name}: {failed}")
    known = set(page.run("return [...document.querySelectorAll('#preset option')].map(o => o.value)"))
    # plain tables need no preset, and counts are recognized by npy
    check(known - used <= {"crowd-kit", "cifar10h"}, f"presets that no example uses: {sorted(known - used)}")
    page.check_quiet()


def test_odd_files(page, tool, folder):
    """Files that cannot be used get a message, and the page stays usable; others are read with a choice, or sorted by their columns."""
    votes = b"task,worker,label\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n"
    zst = b"\x28\xb5\x2f\xfd" + bytes(20)
    for name, content, words in (
            ("empty.csv", b"", "the file is empty"), ("header.csv", b"task,worker,label\n", "no rows"), ("bytes.csv", bytes(range(256)) * 20, "is not text"),
            ("votes.csv.zst", zst, "zstd"), ("votes.csv.gz", b"\x1f\x8b\x08" + bytes(7), "damaged gzip"), ("paper.pdf", b"%PDF-1.4\n", "PDF"),
            ("quote.csv", votes + b'3,a,"x\n3,b,y\n', "Line 6: this quote is never closed"), ("odd.json", b'{"a": [1, 2]}', "no votes were found"),
            ("half.json", b'{"a":', "a value is missing"), ("words.txt", b"hello world\nmore words\n", "no columns for item, annotator and label")):
        page.open()
        page.drop({name: content})
        good, text = page.understood()
        check(not good and words in text, f"{name}: {text}")
        page.drop({"votes.csv": votes})
        page.wait("document.querySelector('#understood.good')", f"a good file after {name}")
    for script, row in (("Cyrillic", "задача,работник,метка\n1,аня,кот\n1,боб,пёс\n2,аня,кот\n2,боб,кот\n"),
                        ("Han", "項目,評者,標籤\n1,王,貓\n1,李,狗\n2,王,貓\n2,李,貓\n"), ("Arabic", "task,worker,label\n1,أ,قطة\n1,ب,كلب\n2,أ,قطة\n2,ب,قطة\n")):
        page.open()
        page.drop({"votes.csv": row.encode()})
        good, text = page.understood()
        check(good and "2 items, 2 annotators, 2 classes, 4 votes" in text, f"{script}: {text}")
    page.open()
    page.drop({"latin.csv": "task,worker,label\n1,a,grün\n1,b,rot\n".encode("latin-1")})
    check(not page.understood()[0], "Latin-1 without a question")
    page.choose("Windows-1252")
    page.wait("document.querySelector('#understood.good')", "a file in Windows-1252")
    page.open()
    page.drop({"rows.csv": votes + b"3,a\n"})
    check(not page.understood()[0], "a short row")
    page.choose("Skip invalid rows")
    page.wait("document.querySelector('#understood.good')", "the file without its invalid row")
    page.open()
    page.drop({"votes.csv": votes, "texts.csv": b"task,text\n1,first\n2,second\n"})
    check(page.understood()[0] and "item texts from texts.csv" in page.run("return document.getElementById('file-name').textContent"), "votes and texts")
    native(tool, folder, "synth", "--items", "100000", "--workers", "300", "-o", "long.csv")
    page.drop({"long.csv": Path(folder, "long.csv").read_bytes()})
    page.wait("document.querySelector('#understood.good')?.textContent.includes('300')", "a large file")
    page.click("#run")
    page.wait("document.querySelector('.busy')", "a running step")
    page.drop({"votes.csv": votes})
    page.wait("document.querySelector('#understood.good')?.textContent.startsWith('The run was stopped')", "a file dropped during a run")
    page.click("#run")
    page.finish()
    check(page.run("return document.querySelectorAll('[role=tab].done').length") == 4, "a run after a run that a file stopped")
    page.check_quiet()


def test_errors(page, tool, folder):
    """Messages have file, line and column; a run can be stopped and another file opened."""
    page.open()
    page.drop({"bad.csv": b"task,worker,label\n1,a,x\n1,b\n"})
    good, text = page.understood()
    check(not good and text.startswith("Line 3: "), f"an error without its place: {text}")
    check(page.run("return document.getElementById('run').disabled"), "a file with errors can be run")
    page.drop({"book.xlsx": b"PK\x03\x04" + bytes(100)})
    page.wait("document.getElementById('start-message').textContent.includes('Excel')", "a message about a workbook")
    native(tool, folder, "synth", "--items", "100000", "--workers", "300", "-o", "large.csv")
    page.drop({"large.csv": Path(folder, "large.csv").read_bytes()})
    page.wait("document.querySelector('#understood.good')", "a large file")
    page.click("#run")
    page.wait("document.querySelector('.busy')", "a running step")
    page.click("#stop")
    check(not page.run("return document.querySelector('.busy')"), "a step runs after Stop")
    check(page.run("return document.getElementById('stopped').textContent").startswith("Stopped."), "no message after Stop")
    page.click("#another")
    check(page.run("return !document.getElementById('start').hidden && document.activeElement.id") == "choose", "the start page after Stop")
    page.drop({"small.csv": b"task,worker,label\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n"})
    check(page.understood()[0], "a file after a run that was stopped")
    page.check_quiet()


def test_keyboard(page, tool, folder):
    page.open()
    page.tab_to("#choose")
    page.tab_to("#example")
    page.key("Enter", 13, "\r")
    check(page.understood()[0], "the example by keyboard")
    page.tab_to("#preview select")
    page.tab_to("#run")
    page.key("Enter", 13, "\r")
    page.finish()
    page.tab_to("[role=tab]")
    page.key("ArrowRight", 39)
    check(page.run("return document.activeElement.id") == "tab-review", "the arrow keys do not move between tabs")
    page.key("End", 35)
    check(page.run("return !document.getElementById('panel-files').hidden"), "the End key does not select the last tab")
    page.tab_to("#panel-files button")
    ring = page.run("return getComputedStyle(document.activeElement).outlineStyle")
    check(ring == "solid", f"the focused button has no ring: {ring}")
    page.tab_to("#edit")
    page.check_quiet()


def test_served(page, tool, folder):
    """The page from a server instead of a disk; without a network as soon as it is loaded."""
    handler = functools.partial(QuietHandler, directory=str(Path(sys.argv[2]).resolve()))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page.offline(False)
    try:
        page.browser.send("POST", "/url", {"url": f"http://127.0.0.1:{server.server_port}/dissent.html"})
        page.wait("document.getElementById('drop')", "the page from a server")
    finally:
        page.offline(True)
        server.shutdown()
        server.server_close()
    check(server.requests == ["/dissent.html"], f"the server was asked for {server.requests}")
    native(tool, folder, "synth", "--items", "200", "-o", "served.csv")
    page.drop({"served.csv": Path(folder, "served.csv").read_bytes()})
    check(page.understood()[0], "a file on the served page")
    page.click("#run")
    page.finish()
    found = page.download("#panel-labels button", "labels.csv")
    check(found == expected_labels(tool, folder, "served.csv"), "labels of the served page have other bytes")
    page.check_quiet()


def test_speed(page, tool, folder):
    """A million votes, from the file to labels."""
    native(tool, folder, "synth", "--items", "200000", "--workers", "500", "--votes-per-item", "5", "-o", "million.csv")
    expected = expected_labels(tool, folder, "million.csv")
    times = []
    for _ in range(3):
        page.open()
        field = page.browser.send("POST", "/element", {"using": "css selector", "value": "#file"})
        page.run("""document.getElementById('file').addEventListener('change', () => { window.began = performance.now(); }, true);
            new MutationObserver(() => {
                if (document.querySelector('#understood.good') && !window.ran) { window.ran = true; document.getElementById('run').click(); }
                if (document.querySelector('#tab-labels.done') && !window.took) window.took = performance.now() - window.began;
            }).observe(document.body, {subtree: true, childList: true, attributes: true});""")
        page.browser.send("POST", f"/element/{list(field.values())[0]}/value", {"text": str(Path(folder, "million.csv"))})
        page.wait("window.took", "labels of a million votes", 120)
        times.append(page.run("return window.took") / 1000)
        found = page.download("#panel-labels button", "labels.csv")
        check(found == expected, "labels of a million votes have other bytes")
    print(f"a million votes, file to labels: {', '.join(f'{t:.2f}' for t in times)} s")
    check(min(times) <= SECONDS, f"a million votes take {min(times):.2f} s")


def main():
    tool, build = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
    chosen = sys.argv[3:]
    browser, driver = webdriver.find()
    if not browser or not driver:
        print("skipped: needs chromium and chromedriver (Debian: chromium, chromium-driver)")
        return 77
    try:
        window = webdriver.Browser(browser, driver)
    except (RuntimeError, OSError) as e:
        print(f"skipped: the browser does not start: {e}")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        downloads = Path(folder, "downloads")
        downloads.mkdir()
        try:
            page = Page(window, (build / "dissent.html").as_uri(), downloads)
            for test in (test_example, test_mapping, test_exports, test_odd_files, test_errors, test_keyboard, test_served, test_speed):
                name = test.__name__[5:]
                if chosen and name not in chosen:
                    continue
                try:
                    test(page, tool, folder)
                    print(f"{name}: passed")
                except AssertionError as e:
                    print(f"{name}: {e}")
                    page.shot(f"failed-{name}")
                    failed = 1
        finally:
            window.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
