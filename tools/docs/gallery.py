"""Makes the pictures of docs/guides/gallery.md: pages of each kind of votes, of groups, judges, models and experiments.

usage: tools/docs/gallery.py DISSENT [OUT]      needs chromium and chromium-driver; OUT (docs/images/gallery) gets the pictures,
                                           --pages FOLDER keeps the reports and whole pages in all four styles

Each picture has the top of a page at 1,400 and 390 pixels, light and dark. The same crowds every time: pictures change
when reports do.
"""

import argparse
import base64
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "browser"))
import webdriver  # noqa: E402

PAGE, PHONE, HEIGHT = 1400, 390, 1000
STYLES = [(PAGE, False), (PHONE, False), (PAGE, True), (PHONE, True)]
SCALE, QUALITY = 0.45, 42  # of the picture, which has all styles


def put(path, header, rows):
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(header)
        out.writerows(rows)


def choose(draw, weights):
    return draw.choices(list(weights), list(weights.values()))[0]


# ---- crowds ----

NAMES = "ada ben cleo dan eva finn gus hana ivo jana kai lena milo nora otto pia quin rosa sven tara".split()


MAILS = {
    "complaint": ("The parcel arrived open and half of the order is missing.", "I was charged twice for one ticket.",
                  "The app has crashed at every start since Monday.", "Nobody has answered my three calls."),
    "praise": ("Thank you for the quick repair, it works again.", "The new menu is so much easier to read.",
               "Your driver was very kind, please tell him.", "Best support I have had in years."),
    "question": ("Can I change the delivery address after ordering?", "Which of the two plans includes calls abroad?",
                 "Is there a discount for schools?", "When will the blue one be back in stock?"),
    "other": ("Please remove me from your list.", "I am out of office until the 12th.",
              "Attached is the signed form.", "We would like to be your partner in marketing."),
}
MIXED = {("complaint", "question"): "Why is my order still not here?", ("praise", "question"): "Love it! Does it come in green?",
         ("complaint", "praise"): "Great product, but it took four weeks.",
         ("other", "question"): "Could you send the form again?"}


def nominal(draw, folder):
    """Mails that fit one class, and some that fit two; one annotator reads none of them."""
    classes = tuple(MAILS)
    skill = {w: draw.uniform(0.85, 0.97) for w in NAMES}
    rows, gold, texts = [], [], []
    for i in range(240):
        mixed = draw.random() < 0.3
        truth = choose(draw, {"complaint": 4, "praise": 3, "question": 2, "other": 1})
        both = draw.choice([pair for pair in MIXED if truth in pair] if mixed else [(truth, truth)])
        rival = both[0] if both[1] == truth else both[1]
        texts.append((f"mail-{i + 1}", MIXED[both] if mixed else draw.choice(MAILS[truth])))
        for w in draw.sample(NAMES, 5):
            vote = truth if draw.random() < skill[w] else draw.choice(classes)
            if mixed and draw.random() < 0.4:
                vote = rival
            rows.append((f"mail-{i + 1}", w, draw.choice(classes) if w == "tara" else vote))
        if i % 3 == 0:
            gold.append((f"mail-{i + 1}", truth))
    put(folder + "/votes.csv", ("task", "worker", "label"), rows)
    put(folder + "/gold.csv", ("task", "label"), gold)
    put(folder + "/texts.csv", ("task", "text"), texts)
    return ["--votes", "votes.csv", "--gold", "gold.csv", "--texts", "texts.csv", "--text", "text"]


def ordinal(draw, folder):
    rows = []
    bias = {w: draw.gauss(0, 0.5) for w in NAMES}
    for i in range(200):
        place = draw.gauss(2.6, 1.1)
        for w in draw.sample(NAMES, 6):
            rows.append((f"comment-{i + 1}", w, min(5, max(1, round(place + bias[w] + draw.gauss(0, 0.7))))))
    put(folder + "/votes.csv", ("task", "worker", "label"), rows)
    return ["--votes", "votes.csv", "--scale", "ordinal"]


def multi_label(draw, folder):
    classes = ("joy", "anger", "fear", "surprise", "sadness")
    rows = []
    for i in range(150):
        chance = {c: draw.betavariate(0.4, 1.1) for c in classes}
        for w in draw.sample(NAMES, 4):
            answer = [c for c in classes if draw.random() < chance[c]]
            rows.append((f"line-{i + 1}", w, "|".join(answer)))
    put(folder + "/votes.csv", ("task", "worker", "label"), rows)
    return ["--votes", "votes.csv", "--scale", "multi-label", "--label", "label[|]"]


def numeric(draw, folder):
    bias = {w: draw.gauss(0, 6) for w in NAMES}
    rows = []
    for i in range(160):
        value = draw.gauss(55, 18)
        for w in draw.sample(NAMES, 5):
            rows.append((f"photo-{i + 1}", w, min(100, max(0, round(value + bias[w] + draw.gauss(0, 8))))))
    put(folder + "/votes.csv", ("task", "worker", "label"), rows)
    return ["--votes", "votes.csv", "--scale", "numeric"]


def pairwise(draw, folder):
    score = {"alder": 1.4, "birch": 0.8, "cedar": 0.5, "elm": 0, "fir": -0.4, "hazel": -0.9, "oak": -1.4}
    rows = []
    for i in range(420):
        a, b = draw.sample(sorted(score), 2)
        for w in draw.sample(NAMES[:8], 2):
            answer = draw.random() < 1 / (1 + math.exp(score[b] - score[a]))
            rows.append((f"q{i % 70 + 1}", a, b, w, "tie" if draw.random() < 0.08 else a if answer else b))
    put(folder + "/votes.csv", ("question", "a", "b", "worker", "winner"), rows)
    return ["--votes", "votes.csv", "--scale", "pairwise", "--task", "question"]


SPAN_WORDS = {
    "person": ("Anna Berger", "Peter Stone", "Maria Lopez", "Tom Hill"),
    "place": ("Hamburg", "Lisbon", "New York", "the old harbour"),
    "company": ("Nordwind", "Blue River Bank", "Kestrel Foods"),
}
SPAN_LINKS = ("", "Last year ", "In spring, ", "As reported, ")
SPAN_VERBS = (" met ", " left ", " wrote to ", " and ", ", seen near ", ", once part of ", " praised ")


def spans(draw, folder):
    rows, texts = [], []
    for i in range(60):
        places, text = [], draw.choice(SPAN_LINKS)
        for part in range(draw.randint(2, 4)):
            kind = choose(draw, {"person": 4, "place": 3, "company": 2})
            text += draw.choice(SPAN_VERBS) if part else ""
            words = draw.choice(SPAN_WORDS[kind])
            places.append((len(text), len(text) + len(words), kind))
            text += words
        texts.append((f"text-{i + 1}", text + "."))
        for w in NAMES[:5]:
            for start, end, kind in places:
                if draw.random() < 0.8:
                    end += draw.choice((0, 0, 0, 0, 0, 1)) if end == len(text) else 0
                    start += text[start:end].find(" ") + 1 if draw.random() < 0.15 else 0
                    kind_answered = kind if draw.random() < 0.88 else draw.choice(("person", "place", "company"))
                    rows.append((f"text-{i + 1}", start, end, w, kind_answered))
    put(folder + "/votes.csv", ("task", "start", "end", "worker", "label"), rows)
    put(folder + "/texts.csv", ("task", "text"), texts)
    return ["--votes", "votes.csv", "--scale", "spans", "--texts", "texts.csv", "--text", "text"]


def groups(draw, folder):
    region = {w: ("north", "south", "west")[i % 3] for i, w in enumerate(NAMES)}
    put(folder + "/people.csv", ("worker", "region"), [*region.items()][:-1] + [(NAMES[-1], "island")])
    rows = []
    for i in range(160):
        hot, common = draw.random() < 0.4, draw.random() < 0.35
        for w in draw.sample(NAMES, 10):
            p = (0.9 if region[w] == "west" else 0.12) if hot else 0.88 if common else 0.1
            rows.append((f"post-{i + 1}", w, "offensive" if draw.random() < p else "fine"))
    put(folder + "/votes.csv", ("task", "worker", "label"), rows)
    return ["--votes", "votes.csv", "--worker-table", "people.csv", "--group", "region"]


def panel(draw, folder):
    skill = {"judge-large": 0.9, "judge-large-2": 0.9, "judge-small": 0.72, "keyword rule": 0.6}
    rows = []
    for i in range(300):
        truth, hard = draw.random() < 0.4, draw.random() < 0.3
        slip = {"judge-large": draw.random()}
        slip["judge-large-2"] = slip["judge-large"] if draw.random() < 0.7 else draw.random()
        for w in draw.sample(NAMES[:9], 4) if i < 180 else []:
            rows.append(
                (
                    f"answer-{i + 1}",
                    w,
                    "human",
                    "helpful" if (draw.random() < (0.65 if hard else 0.9)) == truth else "not helpful",
                )
            )
        for m, p in skill.items():
            right = slip.get(m, draw.random()) < (p - 0.2 if hard else p)
            rows.append((f"answer-{i + 1}", m, "model", "helpful" if right == truth else "not helpful"))
    put(folder + "/votes.csv", ("task", "worker", "kind", "label"), rows)
    return ["--votes", "votes.csv", "--voter-type", "kind"]


def models(draw, folder):
    classes = ("entailment", "neutral", "contradiction")
    gold, human = [], []
    predictions = {"soft labels": [], "majority labels": []}
    for i in range(400):
        sure = draw.betavariate(2, 1)
        first = draw.randrange(3)
        people = [(1 - sure) / 3 + (sure if k == first else 0) for k in range(3)]
        gold.append((f"pair-{i + 1}", draw.choices(classes, people)[0]))
        human.append((f"pair-{i + 1}", *people))
        for name, sharp, noise in (("soft labels", 1.0, 0.7), ("majority labels", 2.4, 1.2)):
            z = [math.exp(sharp * math.log(p + 0.02) + draw.gauss(0, noise)) for p in people]
            predictions[name].append((f"pair-{i + 1}", *(x / sum(z) for x in z)))
    header = ("task", *("p:" + c for c in classes))
    put(folder + "/gold.csv", ("task", "label"), gold)
    put(folder + "/human.csv", header, human)
    for name, rows in predictions.items():
        put(f"{folder}/{name.split()[0]}.csv", header, rows)
    return [
        "--pred",
        "soft labels=soft.csv",
        "--pred",
        "majority labels=majority.csv",
        "--gold",
        "gold.csv",
        "--human",
        "human.csv",
    ]


EXPERIMENT = """name: objectives
about: Majority labels or soft labels of support tickets
data:
  tickets: {items: texts.csv, votes: votes.csv, gold: gold.csv, split: {by: hold-out, size: .25}, dev: .1, human: standard}
defaults: {model: "text:width=16", epochs: 6, objective: soft-ce, labels: default, baseline: majority labels}
seeds: 3
measure: {test: [accuracy, macro_f1, kl, brier, ece]}
cells:
  - {name: majority labels, labels: majority}
  - {name: soft labels}
  - {name: gold and soft labels, objective: gold+kl}
  - {name: too few steps, epochs: 1, rate: 0.000001}
"""


def experiment(draw, folder, tool):
    """Runs an experiment; its page is written by dissent experiment report."""
    with open(folder + "/objectives.yaml", "w") as f:
        f.write(EXPERIMENT)
    votes = ["--theme", "tickets", "--model", "ambiguous", "--items", "600", "--seed", str(draw.randrange(100))]
    for command in (
        ["synth", *votes, "--text", "texts.csv", "--gold", "gold.csv", "-o", "votes.csv", "-q"],
        ["experiment", "run", "objectives.yaml", "-q"],
        ["experiment", "report", "objectives.yaml", "-o", "report.html", "-q"],
    ):
        subprocess.run([tool, *command], cwd=folder, check=True)


def judge(draw, folder, tool):
    """A certificate of one judge."""
    votes = ["--theme", "reviews", "--judges", "2", "--human-items", "400", "--items", "800", "--workers", "12", "--seed", "3"]
    for command in (
        ["synth", *votes, "-o", "votes.csv", "-q"],
        ["judge", "certify", "votes.csv", "--voter-type", "kind", "--judge", "judge1", "--page", "report.html", "-o", "judge.json", "-q"],
    ):
        subprocess.run([tool, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)


# name: what makes it, its title ("": it writes its page itself), where the picture looks
PAGES = {
    "nominal": (nominal, "Mails of one week", ""),
    "ordinal": (ordinal, "How rude is it, 1 to 5", ""),
    "multi-label": (multi_label, "Emotions in lines of dialogue", ""),
    "numeric": (numeric, "How sharp is the photo, 0 to 100", ""),
    "pairwise": (pairwise, "Which answer is better", ""),
    "spans": (spans, "People, places and companies in texts", ""),
    "groups": (groups, "Posts by three regions", "#groups"),
    "panel": (panel, "Helpful answers, by people and models", ""),
    "judge": (judge, "", ""),
    "models": (models, "Two models of entailment", ""),
    "experiment": (experiment, "", ""),
}


class Camera:
    def __init__(self):
        browser, driver = webdriver.find()
        if not browser or not driver:
            sys.exit("needs chromium and chromedriver")
        self.page = webdriver.Browser(browser, driver, PAGE, HEIGHT)

    def show(self, path, width, dark):
        self.page.dark(dark)
        self.page.size(width, HEIGHT, mobile=width == PHONE)
        self.page.open(path)

    def shoot(self, out, anchor="", full_page=False):
        """A PNG of the open page from an anchor on; returns its bytes in base64."""
        top = self.page.run(
            "const e = arguments[0] && document.querySelector(arguments[0]);"
            "return e ? e.getBoundingClientRect().top + scrollY - 24 : 0",
            anchor,
        )
        width = self.page.run("return innerWidth")
        tall = self.page.run("return document.documentElement.scrollHeight") if full_page else HEIGHT
        return self.save(out, (0, top, width, tall), format="png")

    def sheet(self, out, shots, folder):
        """All styles in one picture: wide pages on the left, phones on the right."""
        path = os.path.join(folder, "sheet.html")
        with open(path, "w") as f:
            f.write("<body style='margin:0;background:#9aa4af'><div style='display:grid;gap:16px;grid-template-columns:max-content "
                    "max-content'>" + "".join(f"<img src='data:image/png;base64,{x}' style='display:block'>" for x in shots) + "</div>")
        self.show(path, PAGE + PHONE + 16, False)
        self.save(out, (0, 0, PAGE + PHONE + 16, 2 * HEIGHT + 16), SCALE, format="webp", quality=QUALITY)

    def save(self, out, box, scale=1.0, **kind):
        clip = dict(zip(("x", "y", "width", "height"), box), scale=scale)
        shot = self.page.devtools("Page.captureScreenshot", clip=clip, captureBeyondViewport=True, **kind)["data"]
        if out:
            with open(out, "wb") as f:
                f.write(base64.b64decode(shot))
        return shot

    def close(self):
        self.page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dissent")
    parser.add_argument("out", nargs="?", default=os.path.join(HERE, "..", "..", "docs", "images", "gallery"))
    parser.add_argument("--pages")
    parser.add_argument("--only")
    args = parser.parse_args()
    tool, work = os.path.abspath(args.dissent), args.pages or tempfile.mkdtemp(prefix="gallery-")
    os.makedirs(args.out, exist_ok=True)
    camera, total = Camera(), 0
    try:
        for name, (make, title, anchor) in PAGES.items():
            if args.only and args.only != name:
                continue
            folder = os.path.join(work, name)
            os.makedirs(folder, exist_ok=True)
            if not title:
                make(random.Random(name), folder, tool)
            else:
                what = make(random.Random(name), folder)
                subprocess.run([tool, "report", *what, "--title", title, "-q", "-o", "report.html"], cwd=folder, check=True)
            shots = []
            for width, dark in STYLES:
                camera.show(os.path.join(folder, "report.html"), width, dark)
                if args.pages:
                    camera.shoot(os.path.join(work, f"{name}-{width}{'-dark' if dark else ''}.png"), full_page=True)
                shots.append(camera.shoot(None, anchor))
            out = os.path.join(args.out, f"{name}.webp")
            camera.sheet(out, shots, work)
            total += os.path.getsize(out)
            print(f"{out}: {os.path.getsize(out) // 1000} kB")
    finally:
        camera.close()
    print(f"{total // 1000} kB in all")


if __name__ == "__main__":
    main()
