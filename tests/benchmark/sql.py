"""The seven metrics in SQL, from a table `listed`."""

RELEVANT_ROWS = """
with relevant as (
    select query, rank, relevance,
        row_number() over (partition by query order by rank) as hit,
        row_number() over (partition by query order by relevance desc) as ideal
    from listed where relevance > 0
), scores as (
    select
        sum(case when rank <= 10 then relevance / log2(rank + 1) else 0 end)
            / sum(case when ideal <= 10 then relevance / log2(ideal + 1) else 0 end) as ndcg,
        sum(case when relevance > 0 then hit / rank else 0 end) / sum((relevance > 0)::int) as ap,
        1 / min(case when relevance > 0 then rank end) as rr,
        sum((relevance > 0 and rank <= 10)::int) as hits,
        sum((relevance > 0 and rank <= 100)::int) as hits100,
        sum((relevance > 0)::int) as relevant
    from relevant group by query
), queries as (select count(distinct query) as n from listed)
select
    sum(ndcg) / any_value(n), sum(ap) / any_value(n), sum(rr) / any_value(n), sum(hits / 10) / any_value(n),
    sum(hits / relevant) / any_value(n), sum(hits100 / relevant) / any_value(n), sum((hits > 0)::int) / any_value(n)
from scores, queries
"""
"""Seven metrics in SQL; two windows over the relevant rows, then sums."""

EVERY_ROW = """
with numbered as (
    select query, rank, relevance, relevance > 0 as hit,
        sum((relevance > 0)::int) over (partition by query order by rank) as hits,
        row_number() over (partition by query order by relevance desc) as ideal
    from listed
), scores as (
    select
        coalesce(sum(relevance / log2(rank + 1)) filter (rank <= 10)
            / nullif(sum(relevance / log2(ideal + 1)) filter (ideal <= 10), 0), 0) as ndcg,
        coalesce(avg(hits / rank) filter (hit), 0) as ap,
        coalesce(1 / min(rank) filter (hit), 0) as rr,
        count(*) filter (hit and rank <= 10) as hits10,
        count(*) filter (hit and rank <= 100) as hits100,
        count(*) filter (hit) as relevant
    from numbered group by query
)
select avg(ndcg), avg(ap), avg(rr), avg(hits10 / 10), avg(coalesce(hits10 / nullif(relevant, 0), 0)),
    avg(coalesce(hits100 / nullif(relevant, 0), 0)), avg((hits10 > 0)::int)
from scores
"""
"""The same as most would write it: windows over every row."""
