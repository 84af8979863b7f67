#!/usr/bin/python3
"""The tables of docs/sql.md: the extensions of SQLite and PostgreSQL against what the databases do
themselves.

    bench/sql/bench.py [--rows N] [--repeat N] [BUILD_FOLDER]

All queries of a table run in turns in one session, so that what else the machine does meets all of
them; printed is the median of each, and its ratio to the first. Nothing is asserted: a busy machine
must not fail a build.
"""
import argparse
import math
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "postgresql"))
import harness  # noqa: E402


def show(title, times, notes=None):
    print(f"\n{title}\n")
    base = None
    for name, taken in times.items():
        middle = statistics.median(taken)
        base = base or middle
        note = f"  {notes[name]}" if notes and name in notes else ""
        print(f"    {name:<44}{middle:>9.0f} ms{middle / base:>8.2f}{note}")
    sys.stdout.flush()


def in_turns(run, queries, repeat):
    times = {name: [] for name in queries}
    for _ in range(repeat):
        for name, query in queries.items():
            times[name].append(run(query))
    return times


def timer(server, *settings):
    """A function that runs a query in psql and returns the milliseconds that it says."""
    def run(query):
        text = "".join(f"SET {s};" for s in settings) + f"\n\\timing on\n{query};\n"
        lines = [line for line in server.sql(text).splitlines() if line.startswith("Time:")]
        return float(lines[-1].split()[1])
    return run


def sqlite_lookups(build, repeat, rows=1_000_000):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(str(build / "bloomery_sqlite.so"))
    db.execute("CREATE TABLE t(x INTEGER)")
    db.executemany("INSERT INTO t VALUES (?)", ((i,) for i in range(rows)))
    db.execute("CREATE TABLE f AS SELECT bloom_agg(x, 100000, 0.01) AS b FROM t WHERE x < 100000")

    kept = db.execute("SELECT b FROM f").fetchone()[0]
    file = tempfile.NamedTemporaryFile(suffix=".bloom")
    file.write(kept)
    file.flush()

    def run(query):
        start = time.perf_counter()
        db.execute(query, {"filter": kept}).fetchall()
        return (time.perf_counter() - start) * 1000
    show(f"SQLite, {rows:,} integers, a filter of 100,000 keys", in_turns(run, {
        "abs(x)": "SELECT count(*) FROM t WHERE abs(x)",
        "bloom_contains(:filter, x)": "SELECT count(*) FROM t WHERE bloom_contains(:filter, x)",
        "bloom_contains(bloom_file(...), x)": f"SELECT count(*) FROM t WHERE bloom_contains(bloom_file('{file.name}'), x)",
        "bloom_contains((SELECT bloom_open(b)), x)":
            "SELECT count(*) FROM t WHERE bloom_contains((SELECT bloom_open(b) FROM f), x)",
        "x IN (SELECT ...), 100,000 keys": "SELECT count(*) FROM t WHERE x IN (SELECT x FROM t WHERE x < 100000)",
    }, repeat))
    show(f"SQLite, aggregates of {rows:,} integers", in_turns(run, {
        "sum(abs(x))": "SELECT sum(abs(x)) FROM t",
        "bloom_agg(x, keys, fpr)": f"SELECT bloom_agg(x, {rows}, 0.01) FROM t",
        "bloom_agg(x)": "SELECT bloom_agg(x) FROM t",
    }, repeat))


def one_server(near, rows, repeat):
    near.sql(f"CREATE TABLE t AS SELECT g::bigint AS x FROM generate_series(1, {rows}) g; VACUUM ANALYZE t; "
             f"CREATE TABLE f AS SELECT bloom_agg(x, 100000, 0.01) AS b FROM t WHERE x <= 100000; "
             f"CREATE TABLE big AS SELECT bloom_agg(x, {rows}, 0.01) AS b FROM t")
    for workers in (0, 2):
        run = timer(near, f"max_parallel_workers_per_gather = {workers}")
        show(f"PostgreSQL, aggregates of {rows:,} bigint, {workers} workers", in_turns(run, {
            "count(hashint8(x))": "SELECT count(hashint8(x)) FROM t",
            "bloom_agg(x, keys, fpr)": f"SELECT length(bloom_agg(x, {rows}, 0.01)::bytea) FROM t",
            "bloom_agg(x)": "SELECT length(bloom_agg(x)::bytea) FROM t",
        }, repeat))
        show(f"PostgreSQL, lookups of {rows:,} bigint, {workers} workers", in_turns(run, {
            "int8eq, a trivial function": "SELECT count(*) FROM t WHERE int8eq((SELECT 5::bigint), x)",
            "@>, 125 kB": "SELECT count(*) FROM t WHERE (SELECT b FROM f) @> x",
            "@>, all keys": "SELECT count(*) FROM t WHERE (SELECT b FROM big) @> x",
        }, repeat))


def two_servers(near, far, repeat, rows=1_000_000):
    far.sql(f"CREATE EXTENSION bloomery; CREATE TABLE o AS SELECT g::bigint AS id, md5(g::text) AS name FROM "
            f"generate_series(1, {rows}) g; CREATE INDEX ON o (id); VACUUM ANALYZE o")
    near.sql(f"CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host "
             f"'{far.folder}', dbname 'postgres', extensions 'bloomery'); CREATE USER MAPPING FOR "
             "tester SERVER far OPTIONS (user 'tester'); CREATE FOREIGN TABLE o (id bigint, name text) SERVER far")
    join = "SELECT count(*), max(o.name) FROM o JOIN w ON w.id = o.id"
    run = timer(near)
    for matching in (rows // 1000, rows // 100, rows // 10, rows // 3):
        near.sql(f"DROP TABLE IF EXISTS w; CREATE TABLE w AS SELECT (g * {rows // matching})::bigint AS id FROM "
                 f"generate_series(1, {matching}) g; ANALYZE w")
        shipped = f"{join} WHERE (SELECT bloom_agg(id, {matching}, 0.01) FROM w) @> o.id"
        plan = near.sql(f"EXPLAIN (ANALYZE, TIMING off) {shipped}")
        line = next(line for line in plan.splitlines() if "Foreign Scan" in line)
        fetched = int(line.split("rows=")[-1].split()[0])
        wrong, others = fetched - matching, rows - matching
        fpr = float(near.sql(f"SELECT bloom_info(bloom_agg(id, {matching}, 0.01)) ->> 'fpr_now' FROM w"))
        notes = {"bloom": f"{fetched:,} rows fetched: {matching:,} and {wrong:,} of {others:,}, "
                          f"{wrong / others:.3%} +- {2 * math.sqrt(wrong) / others:.3%}; the filter's own rate is {fpr:.3%}"}
        show(f"postgres_fdw, {rows:,} foreign rows, {matching:,} match", in_turns(run, {
            "plain join": join,
            "bloom": shipped,
            "= ANY(ARRAY(...)), with a remote index": f"{join} WHERE o.id = ANY(ARRAY(SELECT id FROM w))",
        }, repeat), notes)


def pruning(near, repeat, parts=50, rows=1_000_000):
    """One key among partitions that do not follow it, such as days of a log and the user's number.
    """
    near.sql("CREATE TABLE log (part int, id bigint, text text) PARTITION BY LIST (part);" +
             "".join(f"CREATE TABLE log_{i} PARTITION OF log FOR VALUES IN ({i});" for i in range(parts)) +
             f"INSERT INTO log SELECT g % {parts}, hashint8extended(g, 0), 'line' FROM generate_series(1, {rows}) g;"
             "CREATE TABLE usual AS SELECT * FROM log ORDER BY part; CREATE TABLE whole AS SELECT * FROM usual;"
             "VACUUM ANALYZE log; VACUUM ANALYZE usual; VACUUM ANALYZE whole;"
             "CREATE INDEX ON usual USING brin (id int8_bloom_ops);"
             "CREATE INDEX ON whole USING brin (id int8_bloom_ops(n_distinct_per_range = -1)) WITH (pages_per_range = 16);"
             "CREATE TABLE filters (partition regclass, keys bloom);" +
             "".join(f"INSERT INTO filters SELECT 'log_{i}', bloom_agg(id) FROM log_{i};" for i in range(parts)) +
             """CREATE FUNCTION pruned(key bigint) RETURNS bigint LANGUAGE plpgsql AS $$
                DECLARE part regclass; found bigint; total bigint := 0;
                BEGIN
                  FOR part IN SELECT * FROM bloom_partitions('filters', key) LOOP
                    EXECUTE format('SELECT count(*) FROM %s WHERE id = $1', part) INTO found USING key;
                    total := total + found;
                  END LOOP;
                  RETURN total;
                END $$""")
    key = near.sql("SELECT hashint8extended(77777, 0)")
    run = timer(near, "max_parallel_workers_per_gather = 0")
    usual, whole, filters = near.sql(
        "SELECT pg_size_pretty(pg_relation_size('usual_id_idx')); SELECT pg_size_pretty(pg_relation_size('whole_id_idx'));"
        "SELECT pg_size_pretty(sum(pg_column_size(keys))) FROM filters").split("\n")
    show(f"one key of {rows:,} in {parts} partitions", in_turns(run, {
        "all partitions": f"SELECT count(*) FROM log WHERE id = {key}",
        "int8_bloom_ops as by default": f"SELECT count(*) FROM usual WHERE id = {key}",
        "int8_bloom_ops for all keys of 16 pages": f"SELECT count(*) FROM whole WHERE id = {key}",
        "bloom_partitions()": f"SELECT pruned({key})",
    }, repeat), {"int8_bloom_ops as by default": usual, "int8_bloom_ops for all keys of 16 pages": whole,
                 "bloom_partitions()": filters})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default=ROOT / "build" / "release", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--bin", default="/usr/lib/postgresql/15/bin")
    parser.add_argument("--only", choices=("sqlite", "one", "two", "pruning"))
    options = parser.parse_args()
    wanted = lambda part: options.only in (None, part)  # noqa: E731
    if wanted("sqlite"):
        sqlite_lookups(options.build, options.repeat)
    if options.only == "sqlite":
        return
    place = harness.installation(options.build, options.bin)
    try:
        near = place.start("near", "shared_buffers=1GB", "max_wal_size=8GB")
        near.sql("CREATE EXTENSION bloomery")
        if wanted("one"):
            one_server(near, options.rows, options.repeat)
        if wanted("two"):
            two_servers(near, place.start("far", "shared_buffers=256MB"), options.repeat)
        if wanted("pruning"):
            pruning(near, options.repeat)
    finally:
        place.close()


if __name__ == "__main__":
    main()
