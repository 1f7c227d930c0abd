"""Makes docs/images/report.png, the picture of a report that README and the tour show, from the demo's first report.

usage: tools/docs/report_picture.py [REPORT.html [OUT.png]]      after ./run demo; needs chromium and chromium-driver
"""

import base64
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "browser"))
import webdriver  # noqa: E402

PANELS = ("", "#workers")  # the top of the report and its charts of workers, side by side
PAGE, HEIGHT, SCALE, GAP = 1280, 1380, 0.5, 16


def both(report):
    frame = (
        '<iframe src="%s" style="position:absolute;left:%dpx;top:%dpx;width:%dpx;height:%dpx;'
        'border:0;border-radius:16px;transform:scale(%g);transform-origin:0 0"></iframe>'
    )
    step = PAGE * SCALE + GAP
    return '<body style="margin:0;background:#d5dbe2">' + "".join(
        frame % (os.path.basename(report) + anchor, GAP + i * step, GAP, PAGE, HEIGHT, SCALE)
        for i, anchor in enumerate(PANELS)
    )


def main():
    report = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "build", "demo", "crowd.html")
    out = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "..", "..", "docs", "images", "report.png")
    browser, driver = webdriver.find()
    if not browser or not driver:
        sys.exit("needs chromium and chromedriver")
    width, height = int(2 * (PAGE * SCALE + GAP) + GAP), int(HEIGHT * SCALE + 2 * GAP)
    scene = os.path.join(os.path.dirname(report), "picture.html")
    with open(scene, "w", encoding="utf-8") as f:
        f.write(both(report))
    page = webdriver.Browser(browser, driver, width, height)
    try:
        page.size(width, height)
        page.open(scene)
        time.sleep(3)  # pages scroll smoothly to their anchors
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1.25}
        shot = page.devtools("Page.captureScreenshot", format="png", clip=clip)
        with open(out, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
    finally:
        page.close()
        os.remove(scene)
    print(f"{out}: {os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main()
