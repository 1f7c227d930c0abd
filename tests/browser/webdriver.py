"""A browser for tests: the WebDriver protocol (W3C) spoken to chromedriver with nothing but the standard library."""
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Paths of the browser and its driver, None where one is missing."""
    browser = next((shutil.which(name) for name in CHROMIUM if shutil.which(name)), None)
    return browser, shutil.which("chromedriver")


class Browser:
    def __init__(self, browser, driver, width=1280, height=900):
        with socket.socket() as s:  # a port that is free now
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.url, self.session = f"http://127.0.0.1:{port}", None
        arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--window-size={width},{height}"]
        if os.getuid() == 0:  # the sandbox of Chromium refuses root
            arguments.append("--no-sandbox")
        wanted = {"browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                  "goog:chromeOptions": {"binary": browser, "args": arguments}}
        try:
            self._wait()
            self.session = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def _wait(self):
        for _ in range(100):
            try:
                self._send("GET", "/status")
                return
            except urllib.error.URLError:
                time.sleep(.1)
        raise RuntimeError("chromedriver does not answer")

    def _send(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"]) from None

    def send(self, method, path, body=None):
        return self._send(method, f"/session/{self.session}{path}", body)

    def open(self, path):
        self.send("POST", "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *args):
        """What a script returns; it runs outside the page's own policy."""
        return self.send("POST", "/execute/sync", {"script": script, "args": list(args)})

    def devtools(self, command, **parameters):
        return self.send("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def size(self, width, height=900, mobile=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def dark(self, yes=True):
        self.devtools("Emulation.setEmulatedMedia",
                      features=[{"name": "prefers-color-scheme", "value": "dark" if yes else "light"}])

    def console(self):
        return self.send("POST", "/se/log", {"type": "browser"})

    def close(self):
        if self.session:
            try:
                self.send("DELETE", "")
            except (RuntimeError, urllib.error.URLError):
                pass
        self.process.terminate()
        self.process.wait()
