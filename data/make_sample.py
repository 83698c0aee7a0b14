"""Write the sample search log: `python data/make_sample.py [FOLDER]`, into the script's own folder if none is given.

A shop's search box, simulated. Everything follows from one seed, so a second run writes the same tables.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl

SEED = 20240304
QUERIES, USERS, DAYS = 400, 130, 14
FIRST_DAY = pl.lit(date(2024, 3, 4)).alias("day")
LISTED, POOLED = 20, 10
PRODUCTS, NEIGHBOURS = 25, 15

HOPELESS = 0.03
"""Share of queries that nothing in the shop answers."""
SHORT = 0.12
"""Share of lists that end before the last place."""
EMPTY = {"bm25": 0.015, "neural": 0.0}
"""Share of lists with nothing in them, because no word of the query is in the index."""
KNOWN = 0.6
"""Share of relevant articles that judges knew before they saw what the systems found."""
FITS = [1.0, 0.55, 0.22]
"""Of the articles that fit at all, the shares that reach grades 1, 2 and 3."""

SHELVES = {
    "kitchen": ["kettle", "teapot", "frying pan", "chef knife", "cutting board", "coffee grinder", "toaster"],
    "outdoor": ["hiking boots", "tent", "sleeping bag", "headlamp", "rain jacket", "water bottle", "backpack"],
    "office": ["desk lamp", "notebook", "fountain pen", "office chair", "monitor stand", "keyboard", "label maker"],
    "garden": ["watering can", "pruning shears", "garden hose", "plant pot", "hedge trimmer", "bird feeder", "rake"],
    "cycling": ["bike helmet", "bike lock", "floor pump", "saddle", "bike light", "pannier", "cycling gloves"],
}
KINDS = {
    "kitchen": ["", "small", "large", "cheap", "black", "stainless", "best"],
    "outdoor": ["", "lightweight", "compact", "cheap", "kids", "winter", "green"],
    "office": ["", "small", "black", "white", "cheap", "modern", "quality"],
    "garden": ["", "small", "long", "sturdy", "cheap", "green", "metal"],
    "cycling": ["", "red", "black", "light", "cheap", "winter", "small"],
}
PURPOSES = {
    "kitchen": ["", "as a gift", "for a small kitchen", "dishwasher safe"],
    "outdoor": ["", "for travel", "for beginners", "for two weeks"],
    "office": ["", "for home", "for school", "as a gift"],
    "garden": ["", "for a balcony", "for beginners", "for roses"],
    "cycling": ["", "for kids", "for commuting", "for touring"],
}

COUNTRIES = {"us": 0.32, "gb": 0.22, "ca": 0.14, "in": 0.16, "au": 0.16}
DEVICES = {"desktop": 0.45, "mobile": 0.55}

EASE = {"us": 0.15, "gb": 0.10, "ca": 0.0, "in": -0.20, "au": 0.0, "desktop": 0.15, "mobile": -0.15}
"""How much more of an item's grade reaches the scores of both systems, by country and by device."""

SKILL = {"bm25": 0.75, "neural": 0.95}
UNTRAINED, LOSS = "au", 0.45
"""Where `neural` was not trained, and what it loses there: the one segment in which the better system is worse."""

CLICKS = np.array([0.04, 0.20, 0.45, 0.75])
"""How likely a reader who looks at an item clicks it, by grade."""


@dataclass(frozen=True)
class Requests:
    """What was asked, by whom, and what could be answered: one row of the arrays for each query."""

    table: pl.DataFrame
    items: np.ndarray
    grades: np.ndarray


def chosen(rng: np.random.Generator, weights: dict[str, float], size: int) -> np.ndarray:
    """Return names drawn by their weights."""
    bounds = np.cumsum(list(weights.values()))
    drawn: np.ndarray = np.array(list(weights))[np.searchsorted(bounds, rng.random(size) * bounds[-1], side="right")]
    return drawn


def texts(rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """Return shelf, product and text of queries that are all different."""
    every = [
        (shelf, product, " ".join(filter(None, (kind, product, purpose))))
        for shelf, products in SHELVES.items()
        for product in products
        for kind in KINDS[shelf]
        for purpose in PURPOSES[shelf]
    ]
    return [every[i] for i in np.argsort(rng.random(len(every)), kind="stable")[:QUERIES]]


def requests(rng: np.random.Generator) -> Requests:
    """Return the queries, the products that each could be answered with, and how relevant these are, from 0 to 3."""
    asked = texts(rng)
    # The square makes a few users ask much and many ask little.
    user = np.floor(USERS * rng.random(QUERIES) ** 2).astype(int)
    country, device = chosen(rng, COUNTRIES, USERS)[user], chosen(rng, DEVICES, USERS)[user]
    table = pl.DataFrame(
        {
            "query": [text for _, _, text in asked],
            "user": [f"u{number:03d}" for number in user],
            "country": country.tolist(),
            "device": device.tolist(),
            "day": np.sort(rng.integers(0, DAYS, QUERIES)),
        }
    ).with_columns(FIRST_DAY + pl.duration(days="day"))
    items = np.array([candidates(rng, shelf, product) for shelf, product, _ in asked])
    return Requests(table, items, grades(rng, items.shape[1]))


def candidates(rng: np.random.Generator, shelf: str, product: str) -> list[str]:
    """Return the articles of a product, and fewer of its neighbours on the shelf."""
    own = [f"{product.replace(' ', '-')}-{number:02d}" for number in range(PRODUCTS)]
    beside = [name for name in SHELVES[shelf] if name != product]
    other = [f"{name.replace(' ', '-')}-{number:02d}" for name in beside for number in range(PRODUCTS)]
    return own + [other[i] for i in np.argsort(rng.random(len(other)), kind="stable")[:NEIGHBOURS]]


def grades(rng: np.random.Generator, width: int) -> np.ndarray:
    """Return true grades: most articles do not fit, neighbours do so at best a little, and some queries have none."""
    richness = 0.10 + 0.25 * rng.random((QUERIES, 1))
    richness[rng.random(QUERIES) < HOPELESS] = 0.0
    chance = np.where(np.arange(width) < PRODUCTS, richness, richness / 8)
    draw = rng.random((QUERIES, width)) / np.maximum(chance, 1e-9)
    fits: np.ndarray = np.sum([draw < share for share in FITS], axis=0)
    return np.where(np.arange(width) < PRODUCTS, fits, np.minimum(fits, 1))


def scores(rng: np.random.Generator, asked: Requests) -> dict[str, np.ndarray]:
    """Return the score that each system gives each candidate, on its own scale; both share part of their errors."""
    keys = asked.table.select(pl.col("country", "device").replace_strict(EASE, return_dtype=pl.Float64))
    ease = keys.sum_horizontal().to_numpy()[:, None]
    shared = rng.standard_normal(asked.grades.shape)
    made = {}
    for system, skill in SKILL.items():
        strange = (asked.table["country"] == UNTRAINED).to_numpy()[:, None] & (system == "neural")
        signal = (skill + ease - LOSS * strange) * asked.grades
        made[system] = signal + 0.7 * shared + 0.7 * rng.standard_normal(asked.grades.shape)
    return {"bm25": np.round(12.0 + 3.0 * made["bm25"], 2), "neural": np.round(0.5 + 0.08 * made["neural"], 3)}


def run(rng: np.random.Generator, asked: Requests, system: str, score: np.ndarray) -> pl.DataFrame:
    """Return the candidates in the order of a system, with the ranks of those it listed, and what was clicked."""
    queries, width = score.shape
    table = pl.DataFrame(
        {
            "query": np.repeat(asked.table["query"].to_numpy(), width),
            "item": asked.items.ravel(),
            "grade": asked.grades.ravel(),
            "score": score.ravel(),
        }
    )
    length = np.where(rng.random(queries) < SHORT, rng.integers(3, LISTED, queries), LISTED)
    length[rng.random(queries) < EMPTY[system]] = 0
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int32)
    table = table.with_columns(most=pl.Series(np.repeat(length, width))).sort("query", "score", "item", descending=True)
    table = table.with_columns(place=place.over("query"), system=pl.lit(system))
    shown = table.with_columns(rank=pl.when(pl.col("place") <= pl.col("most")).then("place"))
    return shown.with_columns(clicked(rng, shown), score=pl.when(pl.col("rank").is_not_null()).then("score"))


def clicked(rng: np.random.Generator, shown: pl.DataFrame) -> pl.Series:
    """Return the clicks of a reader who looks at rank r with probability 1 / r^0.7; null for what was not shown."""
    rank, grade = shown["rank"].fill_null(LISTED).to_numpy(), shown["grade"].to_numpy()
    clicks = pl.Series("clicked", rng.random(len(shown)) < CLICKS[grade] / rank**0.7)
    return clicks.set(shown["rank"].is_null(), None)


def judged(rng: np.random.Generator, runs: pl.DataFrame) -> pl.DataFrame:
    """Return the judgments: of what any system put among its first ten, and of some relevant articles known before."""
    pool = runs.group_by("query", "item", maintain_order=True).agg(pl.col("rank").min(), pl.col("grade").first())
    pool = pool.sort("query", "item")
    known = (pl.col("grade") > 0) & (pl.Series(rng.random(len(pool))) < KNOWN)
    return pool.filter((pl.col("rank") <= POOLED) | known).select(
        "query", "item", relevance=pl.col("grade").cast(pl.Int32)
    )


def sample() -> dict[str, pl.DataFrame]:
    """Return the tables by the names of their files."""
    rng = np.random.default_rng(SEED)
    asked = requests(rng)
    runs = pl.concat(run(rng, asked, system, score) for system, score in scores(rng, asked).items())
    qrels = judged(rng, runs)
    log = runs.join(qrels, on=["query", "item"], how="left", maintain_order="left")
    log = log.filter(pl.col("rank").is_not_null() | pl.col("relevance").is_not_null())
    log = log.join(asked.table, on="query", how="left", maintain_order="left")
    columns = ["day", "system", "query", "item", "rank", "relevance", "score", "clicked", "country", "device", "user"]
    log = log.sort("day", "query", "system", "rank", "item", nulls_last=True).select(columns)
    return {"search_log.parquet": log, "qrels.parquet": qrels}


def write(folder: Path) -> None:
    """Write the tables into a folder."""
    for name, table in sample().items():
        table.write_parquet(folder / name, compression="zstd", compression_level=12)
        print(f"{name}: {len(table):,} rows, {(folder / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
