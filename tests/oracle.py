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
    if gain == "binary":
        return 1.0
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
    places = k if denominator != "retrieved" and k is not None else len(listed(rows, k))
    return hits, min(places, count_relevant(rows, level)) if denominator == "capped" else places


def precision(rows, k, level, *, denominator="k"):
    return ratio(*precision_parts(rows, k, level, denominator=denominator))


def recall_parts(rows, k, level, *, denominator="relevant"):
    hits = count_relevant(listed(rows, k), level)
    total = count_relevant(rows, level)
    if denominator == "capped" and k is not None:
        return hits, min(total, k)
    if denominator == "retrieved":
        return hits, count_relevant(listed(rows), level)
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
    if denominator == "places":
        return sum(precision(rows, place, level) for place in range(1, k + 1)), k
    total = 0.0
    hits = 0
    for row in listed(rows, k):
        if relevant(row, level):
            hits += 1
            total += hits / row["rank"]
    if denominator == "hits":
        return total, hits
    if denominator == "listed":
        return total, min(count_relevant(rows, level), len(listed(rows, k)))
    if denominator == "k":
        return total, len(listed(rows)) if k is None else k
    return total, recall_parts(rows, k, level, denominator=denominator)[1]


def average_precision(rows, k, level, *, denominator="relevant"):
    return ratio(*average_precision_parts(rows, k, level, denominator=denominator))


def reciprocal_rank(rows, k, level):
    for row in listed(rows, k):
        if relevant(row, level):
            return 1 / row["rank"]
    return 0.0


def r_precision_parts(rows, k, level, *, multiple=1.0):
    places = math.floor(multiple * count_relevant(rows, level) + 0.9)
    return count_relevant(listed(rows, places), level), places


def r_precision(rows, k, level, *, multiple=1.0):
    return ratio(*r_precision_parts(rows, k, level, multiple=multiple))


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
    if ideal == "full" and k is not None:
        grades = grades[:1] * k
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


def nerr_parts(rows, k, level, *, max_grade=None):
    grades = sorted((row["relevance"] for row in rows if relevant(row)), reverse=True)
    best = [{"rank": place, "relevance": grade} for place, grade in enumerate(grades, start=1)]
    return err(rows, k, level, max_grade=max_grade), err(best, k, level, max_grade=max_grade)


def nerr(rows, k, level, *, max_grade=None):
    return ratio(*nerr_parts(rows, k, level, max_grade=max_grade))


def rbp(rows, k, level, *, p=0.8, gain="binary"):
    total, highest = 0.0, max(1.0, *(gain_of(row["relevance"], gain) for row in rows), 0.0)
    for row in listed(rows, k):
        worth = relevant(row, level) if gain == "binary" else gain_of(row["relevance"], gain) / highest
        total += (1 - p) * p ** (row["rank"] - 1) * worth
    return total


def known(row):
    return row["relevance"] is not None and row["relevance"] >= 0


def rbp_residual(rows, k, level, *, p=0.8, tail="always"):
    shown = listed(rows, k)
    if tail == "unjudged" and all(known(row) for row in shown):
        return 0.0
    return 1 - sum((1 - p) * p ** (row["rank"] - 1) for row in shown if known(row))


def hole_parts(rows, k, level):
    shown = listed(rows, k)
    return sum(1 for row in shown if not known(row)), len(shown) if k is None else k


def hole(rows, k, level):
    return ratio(*hole_parts(rows, k, level))


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


def gauc_parts(rows, k, level):
    value = auc(rows, k, level)
    total = count_relevant(rows, level)
    return (0.0, 0.0) if value is None else (value * total, total)


def inferred_ap_parts(rows, k, level):
    total = 0.0
    hits = wrong = pooled = 0
    for row in listed(rows):
        if relevant(row, level):
            share = (hits + 1e-5) / (hits + wrong + 2e-5)
            total += 1 / row["rank"] + pooled / row["rank"] * share
            hits += 1
        wrong += judged_not_relevant(row, level)
        pooled += row["relevance"] is not None
    return total, count_relevant(rows, level)


def inferred_ap(rows, k, level):
    return ratio(*inferred_ap_parts(rows, k, level))


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


def iprec(rows, k, level, *, recall=0.0, rounding="nearest"):
    wanted = math.floor(recall * count_relevant(rows, level) + {"nearest": 0.5, "trec_eval_9": 0.9}[rounding])
    best = 0.0
    hits = 0
    for row in listed(rows):
        if relevant(row, level):
            hits += 1
            if hits >= wanted:
                best = max(best, hits / row["rank"])
    return best


def eleven_point_average(rows, k, level, *, rounding="nearest"):
    return sum(iprec(rows, k, level, recall=i / 10, rounding=rounding) for i in range(11)) / 11


def set_average_precision_parts(rows, k, level):
    return count_relevant(listed(rows), level) ** 2, len(listed(rows)) * count_relevant(rows, level)


def set_average_precision(rows, k, level):
    return ratio(*set_average_precision_parts(rows, k, level))


def utility(rows, k, level, *, hit=1.0, wrong=-1.0, missed=0.0):
    hits = count_relevant(listed(rows), level)
    return hit * hits + wrong * (len(listed(rows)) - hits) + missed * (count_relevant(rows, level) - hits)


def binary_gain_parts(rows, k, level):
    total, hits = 0.0, 0
    for row in listed(rows):
        if relevant(row, level):
            hits += 1
            total += 1 / math.log2(2 + row["rank"] - hits)
    return total, count_relevant(rows, level)


def binary_gain(rows, k, level):
    return ratio(*binary_gain_parts(rows, k, level))


def ideal_gains(rows, gain):
    return sorted((gain_of(row["relevance"], gain) for row in rows), reverse=True)


def normalized_gain_parts(rows, k, level, *, gain="linear"):
    best = ideal_gains(rows, gain)
    total = got = 0.0
    for row in listed(rows):
        worth = gain_of(row["relevance"], gain)
        got += worth
        cost = sum(max(best[place], 1) if place < len(best) else 1 for place in range(row["rank"]))
        total += worth / math.log2(2 + cost - got)
    return total, sum(best)


def normalized_gain(rows, k, level, *, gain="linear"):
    return ratio(*normalized_gain_parts(rows, k, level, gain=gain))


def ndcg_at_hits_parts(rows, k, level, *, gain="linear"):
    gaining = [row for row in rows if gain_of(row["relevance"], gain) > 0]
    return sum(ndcg(rows, row["rank"], level, gain=gain) for row in gaining), len(gaining)


def ndcg_at_hits(rows, k, level, *, gain="linear"):
    return ratio(*ndcg_at_hits_parts(rows, k, level, gain=gain))


def ndcg_at_grades(rows, k, level, *, gain="linear"):
    best = [worth for worth in ideal_gains(rows, gain) if worth > 0]
    ends = [place for place in range(1, len(best) + 1) if place == len(best) or best[place - 1] > best[place]]
    last = max((row["rank"] for row in listed(rows)), default=0)
    values = [ndcg(rows, place, level, gain=gain) for place in ends]
    if last > len(best) + 1:
        values.append(ndcg(rows, None, level, gain=gain))
    return ratio(sum(values), len(values))


def num_nonrel_judged_ret(rows, k, level):
    return sum(1 for row in listed(rows) if judged_not_relevant(row, level))


def num_q(rows, k, level):
    return 1


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
    "num_nonrel_judged_ret": num_nonrel_judged_ret,
    "num_q": num_q,
    "geometric_map": average_precision,
    "geometric_bpref": bpref,
    "inferred_ap": inferred_ap,
    "eleven_point_average": eleven_point_average,
    "set_average_precision": set_average_precision,
    "utility": utility,
    "binary_gain": binary_gain,
    "normalized_gain": normalized_gain,
    "ndcg_at_hits": ndcg_at_hits,
    "ndcg_at_grades": ndcg_at_grades,
    "nerr": nerr,
    "rbp_residual": rbp_residual,
    "hole": hole,
    "gauc": auc,
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
    "inferred_ap": inferred_ap_parts,
    "set_average_precision": set_average_precision_parts,
    "binary_gain": binary_gain_parts,
    "normalized_gain": normalized_gain_parts,
    "ndcg_at_hits": ndcg_at_hits_parts,
    "nerr": nerr_parts,
    "hole": hole_parts,
    "gauc": gauc_parts,
}

# Values of every option, the default first.
GAIN = ("linear", "exponential", "binary", GAINS)
IDEAL = ("judged", "retrieved", "full")
ROUNDING = ("nearest", "trec_eval_9")
OPTIONS = {
    "precision": {"denominator": ("k", "retrieved", "capped")},
    "recall": {"denominator": ("relevant", "capped", "retrieved")},
    "f_score": {"beta": (1.0, 2, 0.5)},
    "average_precision": {"denominator": ("relevant", "capped", "listed", "retrieved", "hits", "k", "places")},
    "cg": {"gain": GAIN},
    "dcg": {"gain": GAIN, "discount": DISCOUNTS},
    "idcg": {"gain": GAIN, "discount": DISCOUNTS, "ideal": IDEAL},
    "ndcg": {"gain": GAIN, "discount": DISCOUNTS, "ideal": IDEAL},
    "err": {"max_grade": (None, 4)},
    "r_precision": {"multiple": (1.0, 0.2, 1.5)},
    "rbp": {"p": (0.8, 0.5), "gain": ("binary", "linear", "exponential", GAINS)},
    "iprec": {"recall": (0.0, 0.1, 0.5, 0.7, 1.0), "rounding": ROUNDING},
    "eleven_point_average": {"rounding": ROUNDING},
    "utility": {"hit": (1.0, 2.0), "wrong": (-1.0, -0.5), "missed": (0.0, -1.0)},
    "normalized_gain": {"gain": GAIN},
    "ndcg_at_hits": {"gain": GAIN},
    "ndcg_at_grades": {"gain": GAIN},
    "nerr": {"max_grade": (None, 4)},
    "rbp_residual": {"p": (0.8, 0.5), "tail": ("always", "unjudged")},
}

COUNTS = {"num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "num_q"}
GEOMETRIC = {"geometric_map", "geometric_bpref"}
WITHOUT_K = {"r_precision", "auc", "bpref", "iprec", "geometric_bpref", "inferred_ap", "eleven_point_average"} | COUNTS
WITHOUT_K |= {"set_average_precision", "utility", "binary_gain", "normalized_gain", "ndcg_at_hits", "ndcg_at_grades"}
WITHOUT_K |= {"gauc"}
GRADED = {"cg", "dcg", "idcg", "ndcg", "err", "nerr", "normalized_gain", "ndcg_at_hits"}
ALWAYS_COMPUTED = {"judged", "fallout", "cg", "dcg", "idcg", "utility", "rbp_residual", "hole"} | COUNTS


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


def cases(k, average="macro"):
    """Return `{text: (name, k, options)}` of every metric with every combination of its options at one cutoff."""
    found = {}
    for name in ORACLE:
        if average == "micro" and name in GEOMETRIC:
            continue
        cut = None if name in WITHOUT_K else k
        for options in options_of(name):
            if cut is None and options.get("denominator") == "places":
                continue
            found[text(name, options, cut)] = (name, cut, options)
    return found


def without_relevant(name, rows, level, options):
    graded = name in GRADED or (name == "rbp" and options["gain"] != "binary")
    return name not in ALWAYS_COMPUTED and count_relevant(rows, None if graded else level) == 0


def resolved(case, top_grade):
    """Return the case with the highest grade of the table where that is left open."""
    name, k, options = case
    if options.get("max_grade", 0) is None:
        options = {"max_grade": top_grade}
    return name, k, options


def score(case, rows, top_grade, *, level=None, no_relevant="zero"):
    """Return the value of one metric for the rows of one query, None where it has none."""
    name, k, options = resolved(case, top_grade)
    if without_relevant(name, rows, level, options):
        return {"zero": 0.0, "skip": None, "one": 1.0}[no_relevant]
    return ORACLE[name](rows, k, level, **options)


def summary(case, queries, top_grade, *, level=None, no_relevant="zero", average="macro"):
    """Return the sum, the mean or the pooled ratio over a list of queries, None where no query counts."""
    name, k, options = resolved(case, top_grade)
    if (average == "micro" and name in PARTS) or name == "gauc":
        kept = [rows for rows in queries if no_relevant != "skip" or not without_relevant(name, rows, level, options)]
        parts = [PARTS[name](rows, k, level, **options) for rows in kept]
        top, bottom = sum(part[0] for part in parts), sum(part[1] for part in parts)
        return top / bottom if bottom else None
    scores = [score(case, rows, top_grade, level=level, no_relevant=no_relevant) for rows in queries]
    scores = [value for value in scores if value is not None]
    if name in COUNTS:
        return sum(scores)
    if name in GEOMETRIC and scores:
        return math.prod(max(value, 1e-5) for value in scores) ** (1 / len(scores))
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
