"""Navigation of the documentation site: six sections, each with a page that lists its pages in groups.

A page that no group names goes into the last group of its section, so a new page is never missing."""

import re

# Section: title, file name of its page, introduction, groups of pages (paths without .md, relative to docs/; * matches several).
SECTIONS = [
    (
        "Start",
        "start/index",
        "Install dissent, choose a command, and finish a first project.",
        [
            ("First steps", ["start/install", "start/which-command", "start/tour"]),
            (
                "Tutorials",
                [
                    "tutorials/labels-from-an-export",
                    "tutorials/train-on-soft-labels",
                    "tutorials/llm-judge",
                    "tutorials/from-crowd-kit",
                    "tutorials/votes-to-a-model",
                    "tutorials/*",
                ],
            ),
            ("Questions and recipes", ["faq", "cookbook"]),
            ("More", ["start/*"]),
        ],
    ),
    (
        "Guides",
        "guides/index",
        "Each guide answers one question: how do I read votes, find wrong labels, train a model?",
        [
            ("Read votes and get labels", ["guides/votes", "guides/item-texts", "guides/labels-and-model", "guides/label-variation"]),
            (
                "Check annotators and items",
                [
                    "guides/agreement",
                    "guides/review",
                    "guides/find-wrong-labels",
                    "guides/find-unreliable-annotators",
                    "guides/plan",
                    "guides/plan-more-votes",
                    "guides/groups",
                ],
            ),
            ("Judge with language models", ["guides/panel", "guides/judge", "guides/class-shares"]),
            ("Other kinds of labels", ["guides/scales", "guides/ordinal", "guides/multi-label", "guides/numeric", "guides/pairwise", "guides/spans"]),
            ("Train models", ["guides/training", "guides/encoders", "guides/perspectives", "guides/pytorch", "guides/hugging-face", "guides/gpu"]),
            ("Evaluate and compare", ["guides/evaluation", "guides/prediction-sets", "guides/comparing", "guides/compare-label-sets", "guides/experiments"]),
            ("Report", ["guides/report", "guides/gallery"]),
            ("Large and live data", ["guides/scale", "guides/append-votes", "guides/watch", "guides/clusters"]),
            ("Browser", ["guides/browser"]),
            ("Python and R", ["guides/python", "guides/plots", "guides/r"]),
            ("More", ["guides/*"]),
        ],
    ),
    (
        "Concepts",
        "concepts/index",
        "What the methods assume, and why they work as they do.",
        [
            ("Terms", ["concepts/glossary"]),
            ("Labels", ["concepts/default-labels", "concepts/label-distributions", "concepts/view-weights", "concepts/predictions-as-priors"]),
            (
                "Measures",
                ["concepts/agreement", "concepts/evaluation", "concepts/intervals", "concepts/group-agreement", "concepts/review-model", "concepts/llm-judges", "concepts/scale-models"],
            ),
            ("Training", ["concepts/training-objectives", "concepts/annotator-models"]),
            ("Results", ["concepts/reproducibility"]),
            ("More", ["concepts/*"]),
        ],
    ),
    (
        "Reference",
        "reference/index",
        "What each command, method, metric, file and function accepts and returns. "
        "The pages of the first four groups are generated from the program, the docstrings and the headers.",
        [
            ("Commands", ["reference/cli/index", "reference/exit-codes"]),
            (
                "Names",
                [
                    "reference/tables/methods",
                    "reference/tables/combiners",
                    "reference/tables/recipes",
                    "reference/tables/metrics",
                    "reference/tables/models",
                    "reference/tables/objectives",
                    "reference/tables/scales",
                    "reference/tables/crowds",
                ],
            ),
            ("Files", ["reference/tables/keys", "reference/experiment-data", "reference/tables/presets", "reference/tables/columns"]),
            ("Libraries", ["reference/python/index", "reference/c/index"]),
            ("Formats and limits", ["reference/input-formats", "reference/paths", "reference/exports", "reference/limits", "reference/platforms"]),
            ("Formulas and sources", ["reference/coefficients", "reference/metric-details", "reference/prediction-set-formulas", "reference/review-formulas", "reference/panel-formulas", "reference/judge-formulas", "reference/pairwise-formulas", "reference/preference-datasets", "reference/plan-formulas", "reference/sources"]),
            ("More", ["reference/*"]),
        ],
    ),
    (
        "Evidence",
        "evidence/index",
        "Measurements: how accurate, calibrated and fast the methods are, each with the command that repeats it.",
        [
            (
                "Labels",
                ["evidence/default-labels", "evidence/methods", "evidence/auto-weights", "evidence/label-variation", "evidence/predictions", "evidence/scales", "evidence/pairwise", "evidence/vote-causes", "evidence/annotator-camps"],
            ),
            (
                "Statistics",
                ["evidence/agreement", "evidence/review", "evidence/panel", "evidence/judges", "evidence/plan", "evidence/groups", "evidence/evaluation", "evidence/prediction-sets", "evidence/comparing", "evidence/watch", "evidence/report-review"],
            ),
            ("Models", ["evidence/training", "evidence/encoders", "evidence/hugging-face", "evidence/preferences", "evidence/perspectives"]),
            ("Speed", ["evidence/benchmarks", "evidence/large-data", "evidence/gpu", "evidence/benchmark-scripts"]),
            ("Published results", ["evidence/papers", "evidence/papers-results", "evidence/papers-comparisons", "evidence/papers-errata", "evidence/crowd-kit"]),
            ("More", ["evidence/*"]),
        ],
    ),
    (
        "Development",
        "development/index",
        "How dissent is built, and how to change it.",
        [
            ("Contribute", ["development/contributing", "development/extending", "development/source-tour", "development/releases"]),
            ("Design", ["development/architecture", "development/design-*", "development/distributed"]),
            ("History", ["development/changelog"]),
            ("More", ["development/*"]),
        ],
    ),
]


def title_of(text):
    """The title of a page, without the name of its section."""
    title = re.search(r"^# (.+)$", text, re.M).group(1)
    short = re.sub(r"^(Evidence|Design): ", "", title)
    return title if short == title else short[0].upper() + short[1:]


def summary_of(text):
    """The first sentence after the title."""
    body = text.split("\n# ", 1)[-1] if not text.startswith("# ") else text
    for paragraph in re.split(r"\n\s*\n", body)[1:] if body.startswith("# ") else re.split(r"\n\s*\n", body):
        paragraph = re.sub(r"<!--.*?-->", "", paragraph, flags=re.S).strip()
        if not paragraph or paragraph[0] in "#|`:(!<-{$" or re.match(r"\d+\.", paragraph):
            continue
        sentence = re.split(r"(?<=[.!?:])\s", paragraph.replace("\n", " "))[0]
        sentence = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence).rstrip(":")
        return sentence if len(sentence) < 200 else ""
    return ""


def first_sentence(text):
    return re.split(r"(?<=[.?]) ", text)[0]


def pages_of(stage, patterns, used):
    for pattern in patterns:
        for page in sorted(stage.glob(f"{pattern}.md")):
            name = page.relative_to(stage).with_suffix("").as_posix()
            if name not in used and not name.endswith("/index") or name == pattern:
                used.add(name)
                yield name


def write_section(stage, section):
    title, page, introduction, groups = section
    out, used = [f"# {title}", "", introduction, ""], {page}
    for heading, patterns in groups:
        names = list(pages_of(stage, patterns, used))
        if not names:
            continue
        if heading == "More":
            print(f"navigation.py: no group of {title} names {', '.join(names)}")
        out += [f"## {heading}", ""]
        entries = []
        for name in names:
            text = (stage / f"{name}.md").read_text()
            link = "/" + name
            summary = summary_of(text)
            out.append(f"- [{title_of(text)}]({link}.md)" + (f": {summary}" if summary else ""))
            entries.append(f"{title_of(text)} <{link}>".replace("`", ""))
        out += ["", "```{toctree}", ":hidden:", "", *entries, "```", ""]
    target = stage / f"{page}.md"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(out))


def write(stage):
    """Section pages, and their list in the start page, which keeps its text."""
    for section in SECTIONS:
        write_section(stage, section)
    index = stage / "index.md"
    text = re.sub(r"^```\{toctree\}.*?^```\n?", "", index.read_text(), flags=re.S | re.M).rstrip()
    entries = "\n".join(f"{page}" for _, page, _, _ in SECTIONS)
    cards = "\n".join(
        f":::{{grid-item-card}} {title}\n:link: /{page}\n:link-type: doc\n{first_sentence(introduction)}\n:::"
        for title, page, introduction, _ in SECTIONS
    )
    grid = f"::::{{grid}} 1 2 2 3\n:gutter: 3\n{cards}\n::::"
    index.write_text(f"{text}\n\n{grid}\n\n```{{toctree}}\n:hidden:\n:maxdepth: 2\n\n{entries}\n```\n")
    exports = stage / "reference" / "exports.md"
    if exports.exists():
        with exports.open("a") as f:
            f.write("\n```{toctree}\n:hidden:\n:glob:\n\nexports/*\n```\n")
