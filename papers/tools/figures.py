"""Charts of papers/results.md, as SVG, from the kept runs: one row per condition, a dot per mean, its 95 % interval, and
the published value as a line."""

from claim_list import LOSSES
from page_tables import CONDITIONS, LABELME, METHOD_TITLES, SETS, VIEWS, condition
from results import published

COLORS = ["#0b6bcb", "#c2570c"]
STYLE = (
    "<style>svg{font:13px sans-serif;background:#fff}text{fill:#24292f}.axis{stroke:#d0d7de}.published{stroke:#24292f;"
    "stroke-width:2;stroke-dasharray:3 2}.interval{stroke-width:2}</style>"
)
LEFT, WIDTH, ROW, TOP = 230, 700, 24, 40


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def ticks(low, high):
    step = next(s for s in (0.5, 1, 2, 5, 10, 20) if (high - low) / s <= 8)
    first = -(-low // step) * step
    return [first + i * step for i in range(int((high - first) / step) + 1)]


def chart(title, unit, rows, names):
    """rows: (label, published or None, [summary or None per name])."""
    values = [
        x for _, p, found in rows for x in [p, *(y for s in found if s for y in (s.low, s.high))] if x is not None
    ]
    low, high = min(values), max(values)
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad
    at = lambda x: round(LEFT + (x - low) / (high - low) * (WIDTH - LEFT - 20), 1)
    height = TOP + ROW * len(rows) + 46
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">'
    ]
    out += [f"<title>{escape(title)}</title>", STYLE, f'<text x="8" y="18" font-weight="bold">{escape(title)}</text>']
    bottom = TOP + ROW * len(rows)
    for t in ticks(low, high):
        out.append(f'<line class="axis" x1="{at(t)}" y1="{TOP - 6}" x2="{at(t)}" y2="{bottom}"/>')
        out.append(f'<text x="{at(t)}" y="{bottom + 16}" text-anchor="middle">{t:g}</text>')
    for i, (label, reported, found) in enumerate(rows):
        y = TOP + ROW * i + ROW / 2 - 4
        out.append(f'<text x="8" y="{y + 4}">{escape(label)}</text>')
        if reported is not None:
            out.append(f'<line class="published" x1="{at(reported)}" y1="{y - 9}" x2="{at(reported)}" y2="{y + 9}"/>')
        for k, s in enumerate(found):
            if s:
                z, color = y + (k - (len(found) - 1) / 2) * 8, COLORS[k]
                out.append(
                    f'<line class="interval" stroke="{color}" x1="{at(s.low)}" y1="{z}" x2="{at(s.high)}" y2="{z}"/>'
                )
                out.append(f'<circle fill="{color}" cx="{at(s.mean)}" cy="{z}" r="4"/>')
    x = 8
    for name, color in zip(names, COLORS):
        out.append(f'<circle fill="{color}" cx="{x + 5}" cy="{bottom + 34}" r="4"/>')
        out.append(f'<text x="{x + 14}" y="{bottom + 38}">{escape(name)}</text>')
        x += 30 + 7 * len(name)
    if any(r[1] is not None for r in rows):
        out.append(f'<line class="published" x1="{x + 5}" y1="{bottom + 26}" x2="{x + 5}" y2="{bottom + 42}"/>')
        out.append(f'<text x="{x + 14}" y="{bottom + 38}">published</text>')
    out.append(f'<text x="{WIDTH - 8}" y="{bottom + 38}" text-anchor="end">{escape(unit)}</text></svg>')
    return "\n".join(out) + "\n"


def in_percent(s):
    return s and s._replace(mean=100 * s.mean, low=100 * s.low, high=100 * s.high)


def conditions(results, title, file, names, measures, legend, unit="accuracy, percent"):
    rows = []
    for label, name in names:
        value = published(file, name, "accuracy")
        found = [in_percent(results.summary(file, form.format(name), m)) for form, m in measures]
        rows.append((label, 100 * value if value else None, found))
    return chart(title, unit, rows, legend)


def labelme(results):
    both = [("{}", "test.accuracy"), ("{}", "images.accuracy")]
    return conditions(results, "LabelMe", "labelme", LABELME, both, ["112 annotated images", "1,188 test images"])


def cifar10h(results):
    names = [
        ("gold", "gold"),
        ("majority", "majority"),
        ("vote shares", "soft, standard"),
        ("softmax", "soft, softmax"),
    ]
    both = [("{}", "test.accuracy"), ("{}, later recipe", "test.accuracy")]
    return conditions(results, "CIFAR-10H", "cifar10h", names, both, ["recipe of the paper", "later code"])


def mtl_gains(results):
    rows = []
    for set_label, key, where in SETS:
        if key == "mtl-pos-test":
            continue  # intervals of the released network are wider than the chart
        for name in CONDITIONS:
            main, _, loss = name.partition("+")
            if loss in LOSSES:
                files = [f"large-{key}-{n}" for n in ("released", "default")]
                one, two = (published(files[0], n, "accuracy") for n in (main, name))
                found = [in_percent(results.difference(f, name, main, f"{where}.accuracy")) for f in files]
                rows.append((f"{set_label}: {condition(name)}", 100 * (two - one), found))
    return chart("What a second head adds", "points of accuracy", rows, ["released network", "default network"])


def views_pos(results):
    rows = []
    for name in ["gold", "silver", *VIEWS]:
        of = lambda c: in_percent(results.summary("large-multi-view-pos", c, "words.macro_f1"))
        rows.append((METHOD_TITLES.get(name, name), None, [of(name), of(f"gold + {name}")]))
    return chart("POS, tested on newspapers", "macro-F1, percent", rows, ["KL", "gold + KL"])


FIGURES = {"labelme": labelme, "cifar10h": cifar10h, "mtl-gains": mtl_gains, "views-pos": views_pos}
