"""Every metric as a plain loop over the rows of one query: slow, obvious, and independent of the package.

A row is a dict with `rank` (None = not retrieved) and `relevance` (None = not judged). `level` is the smallest grade
that counts as relevant, None for every positive one.
"""

import itertools
import math

GAINS = {0.5: 1, 1: 3, 2: 9, 3: 9}
DISCOUNTS = ("log2", "jarvelin", "reciprocal", "none")


def relevant(row, level=None):
    grade = row["relevance"]
    if grade is None:
        return False
    return grade > 0 if level is None else grade >= level


def judged_not_relevant(row, level):
    grade = row["relevance"]
    return grade is not None and grade >= 0 and not relevant(row, level)


def listed(rows, k=None):
    """Return the retrieved rows down to rank k, from the top."""
    kept = [row for row in rows if row["rank"] is not None]
    kept.sort(key=lambda row: row["rank"])
    return [row for row in kept if k is None or row["rank"] <= k]


def count_relevant(rows, level=None):
    return sum(1 for row in rows if relevant(row, level))


def ratio(top, bottom):
    return top / bottom if bottom else 0.0


def gain_of(grade, gain):
    if grade is None or grade <= 0:
        return 0.0
    if gain == "linear":
        return float(grade)
    if gain == "exponential":
        return 2.0**grade - 1.0
    return float(gain[grade])


def discount_at(rank, discount):
    if discount == "log2":
        return 1 / math.log2(rank + 1)
    if discount == "jarvelin":
        return 1.0 if rank == 1 else 1 / math.log2(rank)
    if discount == "reciprocal":
        return 1 / rank
    return 1.0


def precision_parts(rows, k, level, *, denominator="k"):
    hits = count_relevant(listed(rows, k), level)
    if denominator == "k" and k is not None:
        return hits, k
    return hits, len(listed(rows, k))


def precision(rows, k, level, *, denominator="k"):
    return ratio(*precision_parts(rows, k, level, denominator=denominator))


def recall_parts(rows, k, level, *, denominator="relevant"):
    hits = count_relevant(listed(rows, k), level)
    total = count_relevant(rows, level)
    if denominator == "capped" and k is not None:
        return hits, min(total, k)
    return hits, total


def recall(rows, k, level, *, denominator="relevant"):
    return ratio(*recall_parts(rows, k, level, denominator=denominator))


def f_score(rows, k, level, *, beta=1.0):
    p = precision(rows, k, level)
    r = recall(rows, k, level)
    return ratio((1 + beta**2) * p * r, beta**2 * p + r)


def f_score_parts(rows, k, level, *, beta=1.0):
    hits, shown = precision_parts(rows, k, level)
    return (1 + beta**2) * hits, beta**2 * count_relevant(rows, level) + shown


def hit_rate(rows, k, level):
    return 1.0 if count_relevant(listed(rows, k), level) else 0.0


def average_precision_parts(rows, k, level, *, denominator="relevant"):
    total = 0.0
    hits = 0
    for row in listed(rows, k):
        if relevant(row, level):
            hits += 1
            total += hits / row["rank"]
    if denominator == "hits":
        return total, hits
    return total, recall_parts(rows, k, level, denominator=denominator)[1]


def average_precision(rows, k, level, *, denominator="relevant"):
    return ratio(*average_precision_parts(rows, k, level, denominator=denominator))


def reciprocal_rank(rows, k, level):
    for row in listed(rows, k):
        if relevant(row, level):
            return 1 / row["rank"]
    return 0.0


def r_precision_parts(rows, k, level):
    total = count_relevant(rows, level)
    return count_relevant(listed(rows, total), level), total


def r_precision(rows, k, level):
    return ratio(*r_precision_parts(rows, k, level))


def cg(rows, k, level, *, gain="linear"):
    return sum(gain_of(row["relevance"], gain) for row in listed(rows, k))


def dcg(rows, k, level, *, gain="linear", discount="log2"):
    total = 0.0
    for row in listed(rows, k):
        total += gain_of(row["relevance"], gain) * discount_at(row["rank"], discount)
    return total


def idcg(rows, k, level, *, gain="linear", discount="log2", ideal="judged"):
    pool = listed(rows) if ideal == "retrieved" else rows
    grades = sorted((row["relevance"] for row in pool if relevant(row)), reverse=True)
    best = [{"rank": place, "relevance": grade} for place, grade in enumerate(grades, start=1)]
    return dcg(best, k, level, gain=gain, discount=discount)


def ndcg_parts(rows, k, level, *, gain="linear", discount="log2", ideal="judged"):
    found = dcg(rows, k, level, gain=gain, discount=discount)
    return found, idcg(rows, k, level, gain=gain, discount=discount, ideal=ideal)


def ndcg(rows, k, level, *, gain="linear", discount="log2", ideal="judged"):
    return ratio(*ndcg_parts(rows, k, level, gain=gain, discount=discount, ideal=ideal))


def err(rows, k, level, *, max_grade=None):
    """Return the expected reciprocal rank; `max_grade` None is resolved over the table by `score`."""
    total = 0.0
    still_reading = 1.0
    for row in listed(rows, k):
        if relevant(row):
            satisfied = (2.0 ** row["relevance"] - 1) / 2.0**max_grade
            total += still_reading * satisfied / row["rank"]
            still_reading *= 1 - satisfied
    return total


def rbp(rows, k, level, *, p=0.8):
    return (1 - p) * sum(p ** (row["rank"] - 1) for row in listed(rows, k) if relevant(row, level))


def auc_parts(rows, k, level):
    wins = 0.0
    pairs = 0
    for good, bad in itertools.product(rows, rows):
        if relevant(good, level) and not relevant(bad, level):
            above = math.inf if good["rank"] is None else good["rank"]
            below = math.inf if bad["rank"] is None else bad["rank"]
            pairs += 1
            wins += 1.0 if above < below else 0.5 if above == below else 0.0
    return wins, pairs


def auc(rows, k, level):
    wins, pairs = auc_parts(rows, k, level)
    return wins / pairs if pairs else None


def bpref_parts(rows, k, level):
    total = count_relevant(rows, level)
    wrong = sum(1 for row in rows if judged_not_relevant(row, level))
    score = 0.0
    above = 0
    for row in listed(rows):
        if relevant(row, level):
            score += 1.0 if above == 0 else 1 - min(above, total) / min(wrong, total)
        elif judged_not_relevant(row, level):
            above += 1
    return score, total


def bpref(rows, k, level):
    return ratio(*bpref_parts(rows, k, level))


def judged_parts(rows, k, level):
    shown = listed(rows, k)
    return sum(1 for row in shown if row["relevance"] is not None), len(shown)


def judged(rows, k, level):
    return ratio(*judged_parts(rows, k, level))


def fallout_parts(rows, k, level):
    shown = sum(1 for row in listed(rows, k) if judged_not_relevant(row, level))
    return shown, sum(1 for row in rows if judged_not_relevant(row, level))


def fallout(rows, k, level):
    return ratio(*fallout_parts(rows, k, level))


def iprec(rows, k, level, *, recall=0.0):
    wanted = math.floor(recall * count_relevant(rows, level) + 0.5)
    best = 0.0
    hits = 0
    for row in listed(rows):
        if relevant(row, level):
            hits += 1
            if hits >= wanted:
                best = max(best, hits / row["rank"])
    return best


def num_ret(rows, k, level):
    return len(listed(rows))


def num_rel(rows, k, level):
    return count_relevant(rows, level)


def num_rel_ret(rows, k, level):
    return count_relevant(listed(rows), level)


ORACLE = {
    "precision": precision,
    "recall": recall,
    "f_score": f_score,
    "hit_rate": hit_rate,
    "average_precision": average_precision,
    "reciprocal_rank": reciprocal_rank,
    "r_precision": r_precision,
    "cg": cg,
    "dcg": dcg,
    "idcg": idcg,
    "ndcg": ndcg,
    "err": err,
    "rbp": rbp,
    "auc": auc,
    "bpref": bpref,
    "judged": judged,
    "fallout": fallout,
    "iprec": iprec,
    "num_ret": num_ret,
    "num_rel": num_rel,
    "num_rel_ret": num_rel_ret,
}

# Numerator and denominator of the metrics that `average="micro"` pools.
PARTS = {
    "precision": precision_parts,
    "recall": recall_parts,
    "f_score": f_score_parts,
    "average_precision": average_precision_parts,
    "r_precision": r_precision_parts,
    "ndcg": ndcg_parts,
    "auc": auc_parts,
    "bpref": bpref_parts,
    "judged": judged_parts,
    "fallout": fallout_parts,
}

# Values of every option, the default first.
GAIN = ("linear", "exponential", GAINS)
IDEAL = ("judged", "retrieved")
OPTIONS = {
    "precision": {"denominator": ("k", "retrieved")},
    "recall": {"denominator": ("relevant", "capped")},
    "f_score": {"beta": (1.0, 2, 0.5)},
    "average_precision": {"denominator": ("relevant", "capped", "hits")},
    "cg": {"gain": GAIN},
    "dcg": {"gain": GAIN, "discount": DISCOUNTS},
    "idcg": {"gain": GAIN, "discount": DISCOUNTS, "ideal": IDEAL},
    "ndcg": {"gain": GAIN, "discount": DISCOUNTS, "ideal": IDEAL},
    "err": {"max_grade": (None, 4)},
    "rbp": {"p": (0.8, 0.5)},
    "iprec": {"recall": (0.0, 0.1, 0.5, 0.7, 1.0)},
}

COUNTS = {"num_ret", "num_rel", "num_rel_ret"}
WITHOUT_K = {"r_precision", "auc", "bpref", "iprec"} | COUNTS
GRADED = {"cg", "dcg", "idcg", "ndcg", "err"}
ALWAYS_COMPUTED = {"judged", "fallout", "cg", "dcg", "idcg"} | COUNTS


def options_of(name):
    """Return every combination of option values of one metric, the defaults first."""
    values = OPTIONS.get(name, {})
    return [dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())]


def text(name, options, k=None):
    """Return the metric as text, options at their default left out."""
    given = []
    for option, value in options.items():
        if value != OPTIONS[name][option][0]:
            given.append(f"{option}={written(value)}")
    cut = "" if k is None else f"@{k}"
    return name + (f"({','.join(given)})" if given else "") + cut


def written(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{written(grade)}:{written(gain)}" for grade, gain in value.items()) + "}"
    return value if isinstance(value, str) else f"{value:g}"


def cases(k):
    """Return `{text: (name, k, options)}` of every metric with every combination of its options at one cutoff."""
    found = {}
    for name in ORACLE:
        cut = None if name in WITHOUT_K else k
        for options in options_of(name):
            found[text(name, options, cut)] = (name, cut, options)
    return found


def without_relevant(name, rows, level):
    return name not in ALWAYS_COMPUTED and count_relevant(rows, None if name in GRADED else level) == 0


def score(case, rows, top_grade, *, level=None, no_relevant="zero"):
    """Return the value of one metric for the rows of one query, None where it has none."""
    name, k, options = case
    if without_relevant(name, rows, level):
        return {"zero": 0.0, "skip": None, "one": 1.0}[no_relevant]
    if name == "err" and options["max_grade"] is None:
        options = {"max_grade": top_grade}
    return ORACLE[name](rows, k, level, **options)


def summary(case, queries, top_grade, *, level=None, no_relevant="zero", average="macro"):
    """Return the sum, the mean or the pooled ratio over a list of queries, None where no query counts."""
    name, k, options = case
    if average == "micro" and name in PARTS:
        kept = [rows for rows in queries if no_relevant != "skip" or not without_relevant(name, rows, level)]
        parts = [PARTS[name](rows, k, level, **options) for rows in kept]
        top, bottom = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return top / bottom if bottom else None
    scores = [score(case, rows, top_grade, level=level, no_relevant=no_relevant) for rows in queries]
    scores = [value for value in scores if value is not None]
    if name in COUNTS:
        return sum(scores)
    return sum(scores) / len(scores) if scores else None


def by_key(rows, *keys):
    """Return the rows of each query (or segment, ...) of a table."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def top_grade(rows):
    return max((row["relevance"] for row in rows if relevant(row)), default=0)


def per_query(rows, chosen, **policy):
    """Return `{(query, text): value}`."""
    top = top_grade(rows)
    queries = by_key(rows, "query").items()
    return {(*key, name): score(case, own, top, **policy) for key, own in queries for name, case in chosen.items()}


def over_queries(rows, chosen, **policy):
    """Return `{text: value}`."""
    queries = list(by_key(rows, "query").values())
    return {name: summary(case, queries, top_grade(rows), **policy) for name, case in chosen.items()}


def per_segment(rows, chosen, **policy):
    """Return `{(segment, text): value}`."""
    found = {}
    for key, own in by_key(rows, "segment").items():
        queries = list(by_key(own, "query").values())
        for name, case in chosen.items():
            found[(*key, name)] = summary(case, queries, top_grade(rows), **policy)
    return found


def same(one, other, tolerance=1e-12):
    missing = [value is None or math.isnan(value) for value in (one, other)]
    return all(missing) if any(missing) else math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)


def differences(got, expected, tolerance=1e-12):
    """Return `{key: (got, expected)}` where two dicts of numbers differ; a missing key is a difference."""
    keys = list(expected) + [key for key in got if key not in expected]
    pairs = {key: (got.get(key, "absent"), expected.get(key, "absent")) for key in keys}
    return {key: pair for key, pair in pairs.items() if "absent" in pair or not same(*pair, tolerance)}
