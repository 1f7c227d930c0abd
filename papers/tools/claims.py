"""Verdicts on the claims of claim_list.py, from the kept runs. Rules: papers/results.md, "Rules"."""

import re

from claim_list import CLAIMS, PAPERS_IN_ORDER
from results import LOWER, PERCENT, interval, plain, published, signed, summarize

ENOUGH = 3  # seeds
FIXED = {"multi-view-labels", "crowds"}  # nothing is random
VERDICTS = ["reproduced", "in part", "not", "open", "not rerun"]
NAMES = {
    "macro_f1": "F1",
    "entropy_correlation": "correlation",
    "cross_entropy": "cross-entropy",
    "calibrated_log_likelihood": "CLL",
}


def metric_of(c):
    return c["measure"].partition(".")[2]


def difference(results, c):
    """The differences of seeds, in the direction that is claimed; None without runs."""
    if c["kind"] == "equals":
        here = results.mean(c["file"], c["one"], c["measure"])
        return None if here is None else summarize([here - c["value"]])
    if c["kind"] == "right alone":
        two, one = (results.by_seed(c["file"], c["one"], f"right.{k}") for k in ("two_heads", "one_head"))
        return summarize(c["sign"] * (two[s] - one[s]) for s in sorted(two.keys() & one.keys()))
    return results.difference(c["file"], c["one"], c["other"], c["measure"])


def published_difference(results, c):
    """In the direction that is claimed; None if the paper has no number."""
    if c["kind"] != "beats":
        return None
    if c["gain"]:
        return c["gain"]
    if "relative" in c:
        m = results.mean(c["file"], c["other"], c["measure"])
        return None if m is None else c["relative"] * abs(m)
    of = lambda cell: cell if isinstance(cell, float) else published(c["file"], cell, metric_of(c))
    values = [of(c["one"]), of(c["other"])]
    return None if None in values else (values[0] - values[1]) * (-1 if metric_of(c) in LOWER else 1)


def rank(results, c):
    """Place of the mean of a condition among those of all; None if a condition has no runs."""
    means = {o: results.mean(c["file"], o, c["measure"]) for o in c["other"]}
    if None in means.values():
        return None
    order = sorted(means.values(), reverse=metric_of(c) not in LOWER)
    place = 1 + order.index(means[c["one"]])
    n = min(results.summary(c["file"], o, c["measure"]).n for o in c["other"])
    verdict = "holds" if place <= c["most"] else "fails"
    return {**c, "verdict": verdict, "half": "", "n": n, "text": f"rank {place} of {len(order)}", "other": "all others"}


def judge(c, d):
    """One comparison: holds, fails or open."""
    if c["kind"] == "equals":
        return "holds" if abs(d.mean) <= c["margin"] else "fails"
    if c["file"] not in FIXED and d.n < ENOUGH:
        return "open"
    if c["kind"] == "alike":
        return "holds" if d.low <= 0 <= d.high else "fails"
    floor = -c["margin"] if c["kind"] == "near" else 0
    return "holds" if d.low > floor else "fails" if d.high < floor else "open"


def half(d, gain):
    """Whether a difference has at least half of the published one."""
    if not gain or gain <= 0 or d.n < ENOUGH:
        return ""
    return "yes" if d.low > gain / 2 else "no" if d.high < gain / 2 else "open"


def compare(results, c):
    if c["kind"] == "rank":
        return rank(results, c)
    d = difference(results, c)
    if d is None:
        return None
    text = interval(d, c["measure"]) if d.n > 1 else signed(d.mean * (100 if metric_of(c) in PERCENT else 1), 3)
    other = c.get("other", "")
    if isinstance(other, float):
        other = plain(100 * other, 1)
    if c["kind"] == "equals":
        other = f"{plain(c['value'], 3)} ({metric_of(c).replace('_', ' ')})"
    gain = published_difference(results, c)
    return {**c, "verdict": judge(c, d), "half": half(d, gain), "n": d.n, "text": text, "other": other}


def verdict_of(found, remark):
    if not found:
        return "not rerun"
    verdicts = [f["verdict"] for f in found]
    if "artefact: " in remark:
        return "open"
    if all(v == "holds" for v in verdicts):
        return "reproduced"
    return "in part" if "holds" in verdicts else "not" if "fails" in verdicts else "open"


def rows(results):
    """All claims, judged."""
    for number, text, published_values, comparisons, remark in CLAIMS:
        found = [f for f in (compare(results, c) for c in comparisons) if f]
        assert len(found) in (0, len(comparisons)), f"{number}: a condition has no runs"
        counted = not remark.startswith("again")
        yield {
            "id": number,
            "paper": PAPERS_IN_ORDER[number[0]],
            "text": text,
            "published": published_values,
            "found": found,
            "verdict": verdict_of(found, remark) if counted else "again",
            "remark": remark,
        }


# ---- the page ----

MARKS = {
    "reproduced": "reproduced",
    "in part": "in part",
    "not": "**not**",
    "open": "open",
    "not rerun": "not rerun",
    "again": "(not counted)",
}


def size_of(found):
    verdicts = [f["half"] for f in found if f["half"]]
    if not verdicts:
        return ""
    if len(verdicts) == 1:
        return {"yes": "yes", "no": "**no**", "open": "open"}[verdicts[0]]
    return f"{verdicts.count('yes')} of {len(verdicts)}" + (f", {verdicts.count('open')} open" if "open" in verdicts else "")


def outcome(found):
    """The difference, or how many comparisons hold and the range of their means."""
    if not found:
        return ""
    if len(found) == 1:
        return found[0]["text"]
    count = {v: sum(f["verdict"] == v for f in found) for v in ("holds", "fails")}
    counts_text = f"{count['holds']} of {len(found)} hold" + (f", {count['fails']} fail" if count["fails"] else "")
    if len({metric_of(f) for f in found}) > 1 or found[0]["kind"] in ("rank", "equals"):
        return counts_text
    means = sorted((f["text"].split(" ")[0] for f in found), key=float)
    return f"{counts_text}; {means[0]} to {means[-1]}"


def seeds_of(found):
    seeds = sorted({f["n"] for f in found if f["file"] not in FIXED})
    return "" if not seeds else str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"


def tidy(line):
    return re.sub(r"(?<=\|) {2,}(?=\|)", " ", line)


def count_table(results):
    found = [r for r in rows(results) if r["verdict"] != "again"]
    lines = ["| | " + " | ".join(VERDICTS) + " |", "|---" * (len(VERDICTS) + 1) + "|"]
    for name, mine in [(p, [r for r in found if r["paper"] == p]) for p in PAPERS_IN_ORDER.values()] + [("all", found)]:
        lines.append(f"| {name} | " + " | ".join(str(sum(r["verdict"] == v for r in mine)) for v in VERDICTS) + " |")
    return "\n".join(lines)


def claim_table(results, paper):
    lines = [
        "| | as stated | at least half of the published effect | claim | published | here | seeds | remarks |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in rows(results):
        if r["paper"] == paper:
            cells = [r["id"], MARKS[r["verdict"]], size_of(r["found"]), r["text"], r["published"], outcome(r["found"])]
            lines.append(tidy("| " + " | ".join([*cells, seeds_of(r["found"]), r["remark"]]) + " |"))
    return "\n".join(lines)


def log_loss_table(results):
    """The claims on calibrated log-likelihood, judged by the log-loss without calibration as well."""
    lines = ["| | claim | by CLL | by log-loss | by log-loss, as stated |", "|---|---|---|---|---|"]
    for number, text, _, comparisons, remark in CLAIMS:
        if any(metric_of(c) != "calibrated_log_likelihood" for c in comparisons) or not comparisons:
            continue
        raw = [{**c, "measure": c["measure"].replace("calibrated_log_likelihood", "log_loss")} for c in comparisons]
        by_cll, by_raw = ([compare(results, c) for c in group] for group in (comparisons, raw))
        cells = [number, text, outcome(by_cll), outcome(by_raw), MARKS[verdict_of(by_raw, remark)]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def comparison_table(results, paper):
    """Every comparison of several in a claim."""
    lines = ["| | comparison | difference [95 %] | as stated | half |", "|---|---|---|---|---|"]
    for r in rows(results):
        if r["paper"] != paper or len(r["found"]) < 2:
            continue
        files, metrics = ({f[k] for f in r["found"]} for k in ("file", "measure"))
        for f in r["found"]:
            words = [f["file"].removeprefix("large-").removesuffix("-released") + ":"] if len(files) > 1 else []
            words += [f["one"], "against", str(f["other"])]
            if len(metrics) > 1 and f["kind"] != "equals":
                words.append(f"({NAMES.get(metric_of(f), metric_of(f).replace('_', ' '))})")
            lines.append(tidy(f"| {r['id']} | {' '.join(words)} | {f['text']} | {f['verdict']} | {f['half']} |"))
    return "\n".join(lines)
