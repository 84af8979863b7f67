"""PostgreSQL's extension on throwaway servers: what psql prints for regress/bloom.sql, equal bytes
in parallel, filters on disk, dump and restore, an update, altered bytes, cancelled queries, and
joins that ship a filter to a second server. Needs BLOOMERY, BLOOMERY_BUILD and BLOOMERY_PG_BIN.
BLOOMERY_WRITE_EXPECTED=1 writes bloom.out anew.
"""
import difflib
import math
import os
import re
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sql")]
import harness  # noqa: E402
import mutations  # noqa: E402

TOOL = os.environ["BLOOMERY"]
BUILD = Path(os.environ["BLOOMERY_BUILD"])
MUTATIONS = int(os.environ.get("BLOOMERY_SQL_MUTATIONS", 300))
PLACE = None
KINDS = ("blocked", "split-block", "classic", "partitioned", "counting", "scalable", "layered", "cuckoo", "windowed",
         "spectral")

# The table of keys in docs/sql.md: a type, keys of it as somebody may write them, and what they are
# elsewhere.
TYPES = (
    ("bigint", {"-1": -1, "0": 0, "-9223372036854775808": -2**63, "9223372036854775807": 2**63 - 1}),
    ("integer", {"-1": -1, "-2147483648": -2**31, "2147483647": 2**31 - 1}),
    ("smallint", {"-1": -1, "-32768": -2**15, "32767": 2**15 - 1}),
    ("bytea", {r"\x00ff": b"\x00\xff", r"\x7a0a7a": b"z\nz"}),
    ("text", {word: word for word in ("plain", "grün", "日本語", "🌸")}),
    ("varchar", {"naïve": "naïve"}),
    ("uuid", {"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}),
    ("inet", {"10.0.0.1/32": "10.0.0.1", "10.0.0.0/8": "10.0.0.0/8", "2001:DB8:0:0::1": "2001:db8::1"}),
    ("date", {"17 Nov 2026": "2026-11-17", "infinity": "infinity"}),
    ("timestamptz", {"2026-11-17 05:09:25.5+01": "2026-11-17 04:09:25.5+00",
                     "2026-01-01 00:00:00": "2025-12-31 18:15:00+00"}),  # in Kathmandu
    ("numeric", {"1.50": "1.5", "-0.10": "-0.1", "1e3": "1000", "42": "42"}),
)


def setUpModule():
    global PLACE
    PLACE = harness.installation(BUILD, os.environ["BLOOMERY_PG_BIN"])
    PLACE.start("near", "max_parallel_workers_per_gather=2").sql("CREATE DATABASE regress; CREATE EXTENSION bloomery")


def tearDownModule():
    PLACE.close()


class extension_test(unittest.TestCase):
    @property
    def near(self):
        return PLACE.servers[0]

    def one(self, text):
        return self.near.sql(text).splitlines()[-1]

    def test_regress(self):
        script = HERE / "regress" / "bloom.sql"
        done = subprocess.run(self.near.psql_command("-a", "-v", "VERBOSITY=terse", "-f", script, database="regress"),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        printed = re.sub(r"^psql:[^ ]*: ", "", done.stdout, flags=re.MULTILINE)
        expected = script.with_suffix(".out")
        if os.environ.get("BLOOMERY_WRITE_EXPECTED"):
            expected.write_text(printed)
        difference = difflib.unified_diff(expected.read_text().splitlines(), printed.splitlines(), "expected", "printed",
                                          lineterm="", n=1)
        self.assertEqual("", "\n".join(difference))

    def test_bytes_are_those_of_the_tool_with_any_number_of_workers(self):
        keys = "".join(f"{i}\n" for i in range(1, 50001))
        for option, column in ((["--integers"], "g"), ([], "g::text")):
            file = PLACE.data / "tool.bloom"
            subprocess.run([TOOL, "build", "-q", "--keys", "50000", *option, "-o", file, "-"], input=keys, text=True,
                           check=True)
            file.chmod(0o644)
            self.near.sql(f"DROP TABLE IF EXISTS p; CREATE TABLE p AS SELECT {column} AS k FROM generate_series(1, 50000) g; "
                          "ANALYZE p")
            for workers in (0, 1, 2):
                for call in ("bloom_agg(k, 50000, 0.01)", "bloom_agg(k)"):
                    same = self.near.sql(f"SET max_parallel_workers_per_gather = {workers}; "
                                         f"SELECT {call}::bytea = pg_read_binary_file('{file}') FROM p")
                    self.assertEqual("t", same, (call, workers, option))
                plan = self.near.sql(f"SET max_parallel_workers_per_gather = {workers}; EXPLAIN SELECT {call} FROM p")
                self.assertEqual(workers > 0, "Partial Aggregate" in plan, plan)
            found = self.one(f"SELECT count(*) FROM p WHERE (SELECT pg_read_binary_file('{file}')::bloom) @> k")
            self.assertEqual("50000", found)

    def test_keys_of_every_type_are_those_of_the_tool(self):
        """And C++, Python and SQLite ask them, where these were built; SQLite makes them, too."""
        askers = [ask for ask in (self.sqlite(), self.python(), self.cpp()) if ask]
        for name, written in TYPES:
            keys = list(written.values())
            file = self.tool_file(name, keys)
            rows = "unnest(ARRAY[" + ",".join(f"'{key}'" for key in written) + "]) AS k"
            told = self.one("SET timezone = 'Asia/Kathmandu'; SET datestyle = 'German'; "
                            f"WITH f AS (SELECT pg_read_binary_file('{file}')::bloom AS b) SELECT bool_and((SELECT b FROM f) "
                            f"@> k::{name}), bloom_agg(k::{name}, 99, 0.01)::bytea = (SELECT b::bytea FROM f) FROM {rows}")
            self.assertEqual("t|t", told, name)
            for ask in askers:
                ask(name, file, keys)

    def test_keys_in_other_encodings(self):
        """A database's text is other bytes there, and its keys are those of the tool all the same.
        """
        words = ["plain", "grün", "naïve"]
        file = self.tool_file("encoded", words)
        sketch = PLACE.data / "sketch.bloom"
        subprocess.run([TOOL, "build", "-q", "--kind", "top-k", "--keys", "9", "-o", sketch, "-"], check=True,
                       input="".join(f"{word}\n" for word in words + ["grün"]).encode())
        sketch.chmod(0o644)
        rows = "unnest(ARRAY['plain', 'grün', 'naïve']) AS k"
        for encoding, bytes_of_a_word in (("LATIN1", 4), ("WIN1252", 4), ("SQL_ASCII", 5)):
            name = f"in_{encoding.lower()}"
            self.near.sql(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
            told = self.near.sql(f"""
                CREATE EXTENSION bloomery;
                SET client_encoding = 'UTF8';
                SELECT length('grün'::text::bytea), octet_length('grün');
                WITH f AS (SELECT pg_read_binary_file('{file}')::bloom AS b)
                SELECT bool_and((SELECT b FROM f) @> k), bloom_agg(k, 99, 0.01)::bytea = (SELECT b::bytea FROM f),
                       bool_or((SELECT b FROM f) @> (k || 'ü')) FROM {rows};
                SELECT (SELECT f @> 'grün' AND NOT f @> 'grun' FROM bloom_add(bloom(99), 'grün') AS f),
                       (SELECT count(*) FROM top_k_rows((SELECT top_k_agg(k, 3) FROM {rows})) WHERE key IN ('grün', 'naïve'));
                SELECT key, count, octet_length(key) FROM top_k_rows(pg_read_binary_file('{sketch}')::bloom)
                ORDER BY 2 DESC LIMIT 1""", database=name).splitlines()
            self.assertEqual([f"{bytes_of_a_word}|{bytes_of_a_word}", "t|t|f", "t|2", f"grün|2|{bytes_of_a_word}"], told, encoding)
            # What the encoding has no letter for is an error, and no other key.
            if encoding != "SQL_ASCII":
                told = self.near.script("SELECT * FROM top_k_rows(decode('" + self.near.sql(
                    "SELECT encode(top_k_agg('日本語'::text, 3)::bytea, 'hex')") + "', 'hex')::bloom)", database=name)
                self.assertIn("ERROR:  22P05", told)

    def tool_file(self, name, keys):
        """What the tool makes of integers, bytes or text."""
        options, lines = {int: (["--integers"], keys), bytes: (["--hex"], map(bytes.hex, keys)), str: ([], keys)}[type(keys[0])]
        file = PLACE.data / f"{name}.bloom"
        subprocess.run([TOOL, "build", "-q", "--keys", "99", *options, "-o", file, "-"], check=True,
                       input="".join(f"{line}\n" for line in lines).encode())
        file.chmod(0o644)
        return file

    def sqlite(self):
        if not (BUILD / "bloomery_sqlite.so").exists() or not hasattr(sqlite3.Connection, "enable_load_extension"):
            return None
        db = sqlite3.connect(":memory:")
        self.addCleanup(db.close)
        db.enable_load_extension(True)
        db.load_extension(str(BUILD / "bloomery_sqlite.so"))
        db.execute("CREATE TABLE k (key)")

        def ask(name, file, keys):
            db.execute("DELETE FROM k")
            db.executemany("INSERT INTO k VALUES (?)", [(key,) for key in keys])
            told = db.execute("SELECT sum(bloom_contains(bloom_file(?), key)), bloom_agg(key, 99, 0.01) FROM k", (str(file),))
            self.assertEqual((len(keys), file.read_bytes()), told.fetchone(), name)
        return ask

    def python(self):
        if not list((BUILD / "python" / "bloomery").glob("_core*.so")):
            return None
        sys.path.insert(0, str(BUILD / "python"))
        import bloomery

        def ask(name, file, keys):
            filter_ = bloomery.open(file)
            self.assertEqual([], [key for key in keys if key not in filter_], name)
        return ask

    def cpp(self):
        """examples/from_database.cpp"""
        program = BUILD / "tests" / "bloomery_example_programs"
        if not program.exists():
            return None

        def ask(name, file, keys):
            lines = [f"i {key}" if isinstance(key, int) else (key if isinstance(key, bytes) else key.encode()).hex()
                     for key in keys]
            done = subprocess.run([program, "from_database"], input="\n".join([str(file), *lines]) + "\n", text=True,
                                  capture_output=True)
            self.assertEqual((0, f"{len(keys)} of {len(keys)} keys\n"), (done.returncode, done.stdout), name)
        return ask

    def test_filters_on_disk(self):
        """Several large ones, asked in turns for every row, and one that changes."""
        self.near.sql("CREATE TABLE d AS SELECT p, bloom_agg(g, 20000, 1e-6) AS b FROM generate_series(0, 5) p, "
                      "generate_series(1, 20000) g WHERE g % 6 = p GROUP BY p")
        self.assertEqual("0", self.one("SELECT count(*) FROM d WHERE pg_column_size(b) < 50000"))
        alone = "SET max_parallel_workers_per_gather = 0;"
        for key in ("g", "g::bigint"):
            for those in ("true", "p < 3"):  # more than are kept open, and fewer
                wrong = self.one(f"{alone} SELECT count(*) FROM generate_series(1, 300) g, LATERAL (SELECT * FROM d WHERE "
                                 f"{those} OFFSET 0 * g) AS e WHERE (b @> {key}) <> (g % 6 = p)")
                self.assertLessEqual(int(wrong), 1, (key, those))
        # In one row by its place, in the next by its bytes: what one leaves open is not the
        # other's.
        wrong = self.one(f"{alone} SELECT count(*) FROM generate_series(1, 300) g, LATERAL (SELECT p, b FROM d WHERE p < 3 "
                         "UNION ALL SELECT p, bloom_add(b, 1000000) FROM d WHERE p > 3 AND g < 10 OFFSET 0 * g) AS e "
                         "WHERE (b @> g::bigint) <> (g % 6 = p)")
        self.assertLessEqual(int(wrong), 1)
        self.near.sql("UPDATE d SET b = bloom_add(b, 100000) WHERE p = 1")
        self.assertEqual("1", self.one("SELECT count(*) FROM d WHERE b @> 100000"))

    def test_dump_and_restore(self):
        self.near.sql("CREATE DATABASE restored; CREATE TABLE r AS SELECT bloom_agg(g) AS b FROM generate_series(1, 999) g")
        dump = subprocess.run([PLACE.bin / "pg_dump", "-h", self.near.folder, "-U", "tester", "-t", "r", "postgres"],
                              capture_output=True, text=True, check=True).stdout
        self.near.sql("CREATE EXTENSION bloomery;" + dump, database="restored")
        digest = "SELECT md5(b::bytea) FROM public.r"
        self.assertEqual(self.one(digest), self.near.sql(digest, database="restored"))
        self.near.sql(f"COPY r TO '{PLACE.data}/r.bin' (FORMAT binary); CREATE TABLE r2 (b bloom); "
                      f"COPY r2 FROM '{PLACE.data}/r.bin' (FORMAT binary)")
        self.assertEqual(self.one(digest), self.one("SELECT md5(b::bytea) FROM r2"))

    def test_update_of_the_extension(self):
        """A later version adds an object; filters of the first one stay what they are."""
        control = (PLACE.extensions / "bloomery.control").read_text()
        version = re.search(r"default_version = '(.*)'", control).group(1)
        (PLACE.extensions / f"bloomery--{version}--99.sql").write_text(
            "CREATE FUNCTION bloom_later() RETURNS integer LANGUAGE sql AS 'SELECT 99';")
        self.near.sql("CREATE DATABASE later")
        self.near.sql("CREATE EXTENSION bloomery; CREATE TABLE l AS SELECT bloom_add(bloom(9), 5) AS b", database="later")
        told = self.near.sql("ALTER EXTENSION bloomery UPDATE TO '99'; SELECT extversion, bloom_later(), b @> 5 FROM "
                             "pg_extension, l WHERE extname = 'bloomery'", database="later")
        self.assertEqual("99|99|t", told)
        self.assertEqual("", self.near.sql("DROP EXTENSION bloomery CASCADE; SELECT proname FROM pg_proc WHERE "
                                           "proname LIKE 'bloom%'", database="later"))

    def altered_calls(self, count):
        """Statements that use altered filters. A cast checks every byte; unchecked() has no check,
        as if the disk had altered them.
        """
        rows = self.near.sql("".join(f"SELECT encode(bloom_add(bloom(50, 0.01, '{kind}'), 1)::bytea, 'hex');"
                                     for kind in KINDS) +
                             "SELECT encode(top_k_agg(g % 50, 5)::bytea, 'hex') FROM generate_series(1, 999) g;"
                             "SELECT encode(count_min_agg(g, 0.1, 0.1)::bytea, 'hex') FROM generate_series(1, 999) g;"
                             "SELECT encode(bloom_pack(bloom_agg(g)), 'hex') FROM generate_series(1, 999) g")
        images = [bytes.fromhex(row) for row in rows.split()]
        calls = ("b @> 1", "b @> 'a'", "bloom_add(b, 7)", "bloom_add(b, 'b')", "bloom_info(b)", "bloom_count(b)",
                 "bloom_count(b, 3)", "b | b", "b & b", "bloom_fold(b)", "bloom_compare(b, b)", "bloom_pack(b)", "b::text::bloom",
                 "(SELECT count(*) FROM top_k_rows(b))", "(SELECT bloom_union_agg(b))")
        self.near.sql("CREATE OR REPLACE FUNCTION unchecked(bytea) RETURNS bloom AS '$libdir/bloomery', 'pgbloom_send' "
                      "LANGUAGE C STRICT")
        for number, image in enumerate(mutations.mutated(images, count)):
            value = f"'\\x{image.hex()}'::bytea"
            value = f"{value}::bloom" if number % 2 else f"unchecked({value})"
            yield f"SELECT ({calls[number % len(calls)]}) IS NULL FROM (SELECT {value} AS b OFFSET 0) AS v;"
        # Larger ones, which lie in the table's second one as they are.
        rows = self.near.sql("".join(f"SELECT encode((SELECT bloom_union_agg(bloom_add(bloom(20000, 0.01, '{kind}'), 1)))"
                                     "::bytea, 'hex');" for kind in ("blocked", "counting", "cuckoo", "layered")))
        yield "CREATE TABLE IF NOT EXISTS altered (number integer, b bloom);"
        large = mutations.mutated([bytes.fromhex(row) for row in rows.split()], count // 10, seed=26)
        for number, image in enumerate(large):
            call = calls[number % len(calls)]
            yield f"INSERT INTO altered SELECT {number}, unchecked('\\x{image.hex()}'::bytea);"
            yield f"SELECT ({call}) IS NULL FROM altered WHERE number = {number};"
            yield f"SELECT ({call}) IS NULL FROM altered, generate_series(1, 2) WHERE number = {number} OFFSET 1;"

    def test_altered_filters_are_refused_or_answer(self):
        """In one statement each, so that no error hides another; the session must never be lost."""
        process = "SELECT pg_backend_pid();"
        told = self.near.script("\n".join([process, *self.altered_calls(MUTATIONS), process])).splitlines()
        self.assertEqual(told[0], told[-1], "the session was lost")
        answered = told.count("f") + told.count("t")
        self.assertTrue(0 < answered < MUTATIONS, answered)
        stored = self.one("SELECT count(*) FROM altered WHERE pg_relation_size((SELECT reltoastrelid FROM pg_class WHERE "
                          "relname = 'altered')) > 20000 * number")
        self.assertEqual(MUTATIONS // 10, int(stored))
        states = set(re.findall(r"^ERROR:  (\w+):", "\n".join(told), re.MULTILINE))
        self.assertLessEqual(states, {"22P03", "XX001", "0A000", "22000", "22023", "53200", "54000", "22021"})

    def test_every_error_has_the_state_of_the_documents(self):
        calls = {"22P03": r"'\x00'::bytea::bloom", "22P02": "'nonsense'::bloom", "XX001": r"'\x424c4f4f4d455259'::bytea::bloom",
                 "0A000": "top_k_rows(bloom(9))", "22000": "bloom(10) | bloom(1000)", "42804": "bloom(9) @> point(1, 1)",
                 "22004": "bloom_agg(1, NULL, 0.1)", "22023": "bloom(0)", "54000": "bloom(100000000000)"}
        told = self.near.script("".join(f"SELECT {call};\n" for call in calls.values()))
        self.assertEqual(list(calls), re.findall(r"^ERROR:  (\w+):", told, re.MULTILINE), told)
        # Where there is another way, it is told.
        hints = dict(re.findall(r"^ERROR:  (\w+):.*\nHINT:  (.*)$", told, re.MULTILINE))
        self.assertEqual({"42804": "Cast the key to text, here and wherever the filter is made or asked.",
                          "54000": "Make several, such as one for each partition, or allow a higher rate of false positives."},
                         hints, told)
        documents = (HERE.parent.parent / "docs" / "sql.md").read_text()
        listed = re.search(r"Errors have SQLSTATEs:.*?\n\n", documents, re.DOTALL).group()
        self.assertEqual({*calls, "53200"}, set(re.findall(r"\b[0-9A-Z]{5}\b", listed)))

    @unittest.skipUnless(os.environ.get("BLOOMERY_PG_CHECKED"), "BLOOMERY_PG_CHECKED is not set; ./test --long sets it")
    def test_altered_filters_under_valgrind(self):
        """The same with every access to memory checked, in a server of one process."""
        script = ";\n\n".join(call.rstrip(";") for call in self.altered_calls(MUTATIONS)) + ";\n\n"
        alone = PLACE.start("alone")
        alone.sql("CREATE EXTENSION bloomery; CREATE FUNCTION unchecked(bytea) RETURNS bloom AS '$libdir/bloomery', "
                  "'pgbloom_send' LANGUAGE C STRICT")
        alone.stop()
        status, told, errors = alone.single(script, "valgrind", "--quiet", "--error-exitcode=99", "--undef-value-errors=no")
        self.assertEqual(0, status, errors[-2000:])
        self.assertNotIn("Invalid", errors)
        self.assertLess(MUTATIONS // 2, told.count("= \"f\"") + told.count("= \"t\"") + errors.count("ERROR:"))

    def test_errors_leak_nothing(self):
        """What the library allocates is freed when an error leaves a call: 3000 times 125 kB and
        more would show.
        """
        resident = "SELECT substring(pg_read_file('/proc/self/status') FROM 'VmRSS:\\s*(\\d+)');"
        told = self.near.sql(
            "CREATE TEMP TABLE two AS SELECT bloom(100000) AS a, bloom(200000) AS b; CREATE FUNCTION fail(call text, times "
            "integer) RETURNS integer LANGUAGE plpgsql AS $$ DECLARE failed integer := 0; BEGIN FOR i IN 1..times LOOP BEGIN "
            "EXECUTE call; EXCEPTION WHEN data_exception OR feature_not_supported THEN failed := failed + 1; END; END LOOP; "
            "RETURN failed; END $$; SELECT fail('SELECT a | b FROM two', 50);" + resident +
            "SELECT fail('SELECT a | b FROM two', 1000), fail('SELECT bloom_union_agg(x) FROM (SELECT a AS x FROM two "
            "UNION ALL SELECT b FROM two) AS z', 1000), fail('SELECT * FROM top_k_rows((SELECT a FROM two))', 1000);" +
            resident).split()
        self.assertEqual("1000|1000|1000", told[2])
        self.assertLess(int(told[3]) - int(told[1]), 50_000, told)

    def test_without_memory(self):
        """In a server with little room: what wants more fails alone, at whatever step, and its
        memory comes back.
        """
        poor = PLACE.start("poor", "jit=off", "max_parallel_workers_per_gather=0", wrapper=("prlimit", f"--as={384 << 20}"))
        poor.sql("CREATE EXTENSION bloomery")
        process = "SELECT pg_backend_pid();"
        failing = ("SELECT bloom(800000000);", "SELECT bloom(120000000);", "SELECT bloom(80000000);",
                   "SELECT count_min_agg(g, 1e-7, 0.01) FROM generate_series(1, 9) g;",
                   "SELECT bloom_agg(repeat('x', 1000000) || g) FROM generate_series(1, 1000) g;")
        possible = "SELECT bloom_agg(g) @> 5 FROM generate_series(1, 1000) g;"
        told = poor.script("\n".join([process, *(call + possible for call in failing), process])).splitlines()
        poor.stop()
        self.assertEqual(told[0], told[-1], "the session was lost")
        self.assertEqual((["53200"] * len(failing), len(failing)),
                         (re.findall(r"^ERROR:  (\w+):", "\n".join(told), re.MULTILINE), told.count("t")), told)

    def test_a_query_can_be_cancelled(self):
        told = self.near.script("SET statement_timeout = 300; SET max_parallel_workers_per_gather = 0; SELECT "
                                "bloom_agg(a.x) FROM generate_series(1, 10000) a(x), generate_series(1, 100000) b;")
        self.assertIn("57014", told)
        # With workers, each of which has keys that wait.
        self.near.sql("CREATE TABLE c AS SELECT generate_series(0, 499) AS k; ANALYZE c")
        query = "SELECT bloom_agg(k * 1000000 + x) FROM c, generate_series(1, 1000000) AS x"
        plan = self.near.sql(f"EXPLAIN {query}")
        self.assertIn("Partial Aggregate", plan)
        for limit in (50, 500):
            told = self.near.script(f"SET statement_timeout = {limit}; {query};")
            self.assertIn("57014", told)

    @unittest.skipUnless(os.environ.get("BLOOMERY_SQL_LARGE"), "BLOOMERY_SQL_LARGE is not set; ./test --long sets it")
    def test_more_keys_than_may_wait(self):
        """70 million keys, which is more than wait for their number in one process, and less in
        each of three: the bytes are the same, all keys are in, and others are at the rate that was
        promised.
        """
        self.near.sql("CREATE TABLE m AS SELECT generate_series(0, 999) AS k; ANALYZE m; CREATE TABLE made (workers integer, "
                      "b bloom)")
        for workers in (0, 2):
            self.near.sql(f"SET max_parallel_workers_per_gather = {workers}; INSERT INTO made SELECT {workers}, (SELECT "
                          "bloom_agg(k * 70000::bigint + x) FROM m, generate_series(1, 70000) AS x)")
        self.assertEqual("t|t", self.one("SELECT a.b::bytea = z.b::bytea, (bloom_info(a.b) ->> 'fpr_now')::float8 <= 0.01 "
                                         "FROM made a, made z WHERE a.workers = 0 AND z.workers = 2"))
        filter_ = "(SELECT b FROM made WHERE workers = 0)"
        told = self.one("SELECT count(*) FILTER (WHERE g <= 70000000), count(*) FILTER (WHERE g > 70000000) FROM "
                        f"generate_series(35, 140000000, 70::bigint) g WHERE {filter_} @> g").split("|")
        self.assertEqual("1000000", told[0])
        self.assertLess(int(told[1]), 10000 + 4 * 100)
        told = self.one(f"SELECT bloom_count({filter_}) / 70000000, length({filter_}::bytea) / 70000000.0").split("|")
        self.assertLess(abs(float(told[0]) - 1), 0.001)
        self.assertLess(float(told[1]), 1.25 * 1.34)


class shipping_test(unittest.TestCase):
    """Two servers. What crosses is counted by the remote scan of EXPLAIN ANALYZE."""
    REMOTE = 20000
    MATCHING = 200

    @classmethod
    def setUpClass(cls):
        far = PLACE.start("far", "max_parallel_workers_per_gather=0")
        far.sql(f"CREATE EXTENSION bloomery; CREATE TABLE orders AS SELECT g::bigint AS id, 'name ' || g AS name "
                f"FROM generate_series(1, {cls.REMOTE}) g; ANALYZE orders")
        PLACE.servers[0].sql(
            "CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw "
            f"OPTIONS (host '{far.folder}', dbname 'postgres', extensions 'bloomery'); "
            "CREATE USER MAPPING FOR tester SERVER far OPTIONS (user 'tester'); "
            "CREATE FOREIGN TABLE orders (id bigint, name text) SERVER far; "
            f"CREATE TABLE wanted AS SELECT g * 100::bigint AS id FROM generate_series(1, {cls.MATCHING}) g; "
            "ANALYZE wanted; CREATE TABLE filters AS SELECT bloom_agg(id, 200, 0.01) AS ids FROM wanted;"
            "ANALYZE filters")

    def fetched(self, query, before=""):
        """Rows that crossed, and the plan."""
        plan = PLACE.servers[0].sql(f"{before}; EXPLAIN (ANALYZE, VERBOSE, COSTS off, TIMING off, SUMMARY off) {query}")
        return int(re.search(r"Foreign Scan on \S+orders.*rows=(\d+)", plan).group(1)), plan

    def check_rows(self, rows, of, matching, plan):
        """What is wrong follows the filter's own rate; four standard errors around it."""
        fpr = float(PLACE.servers[0].sql("SELECT bloom_info(ids) ->> 'fpr_now' FROM filters"))
        expected = fpr * (of - matching)
        self.assertLessEqual(abs(rows - matching - expected), 4 * math.sqrt(expected), (fpr, plan))

    def check_shipped(self, query, before=""):
        rows, plan = self.fetched(query, before)
        self.assertRegex(plan, r"Remote SQL: .*(bloom_contains|@>)")
        self.check_rows(rows, self.REMOTE, self.MATCHING, plan)

    def test_what_is_shipped(self):
        join = "SELECT o.id FROM orders o JOIN wanted w ON w.id = o.id"
        self.check_shipped(f"{join} WHERE (SELECT bloom_agg(id, 200, 0.01) FROM wanted) @> o.id")
        self.check_shipped(f"{join} WHERE bloom_contains((SELECT ids FROM filters), o.id)")
        self.check_shipped(f"WITH f AS MATERIALIZED (SELECT bloom_agg(id, 200, 0.01) AS b FROM wanted) {join} "
                           "WHERE (SELECT b FROM f) @> o.id")
        self.check_shipped("SELECT q.id FROM filters f, LATERAL (SELECT * FROM orders o WHERE f.ids @> o.id OFFSET 0) q "
                           "JOIN wanted w ON w.id = q.id")
        self.check_shipped("EXECUTE ask(:'ids')",
                           f"SELECT ids FROM filters \\gset\nPREPARE ask(bloom) AS {join} WHERE $1 @> o.id")

    def test_answers_are_those_of_the_plain_join(self):
        count = "SELECT count(*), sum(o.id) FROM orders o JOIN wanted w ON w.id = o.id"
        plain = PLACE.servers[0].sql(count)
        self.assertEqual(plain, PLACE.servers[0].sql(f"{count} WHERE (SELECT ids FROM filters) @> o.id"))
        self.assertEqual(plain, PLACE.servers[0].sql(
            "WITH f AS MATERIALIZED (SELECT bloom_agg(id) AS b FROM wanted) SELECT count(*), sum(o.id) FROM f, orders o "
            "JOIN wanted w ON w.id = o.id WHERE f.b @> o.id"))

    def test_partitions_on_servers(self):
        """The filter goes to each foreign partition; they are on two servers, which answer at the
        same time.
        """
        near, far = PLACE.servers[0], PLACE.servers[-1]
        far.sql("CREATE DATABASE year_1; CREATE DATABASE year_2")
        near.sql("CREATE TABLE years (year integer, id bigint) PARTITION BY LIST (year)")
        for part in (1, 2):
            far.sql(f"CREATE EXTENSION bloomery; CREATE TABLE year_{part} AS SELECT {part} AS year, g::bigint AS id FROM "
                    "generate_series(1, 5000) g", database=f"year_{part}")
            near.sql(f"CREATE SERVER far_{part} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{far.folder}', dbname "
                     f"'year_{part}', extensions 'bloomery', async_capable 'true'); CREATE USER MAPPING FOR tester SERVER "
                     f"far_{part} OPTIONS (user 'tester'); CREATE FOREIGN TABLE year_{part} PARTITION OF years FOR VALUES IN "
                     f"({part}) SERVER far_{part}")
        plan = near.sql("EXPLAIN (ANALYZE, VERBOSE, COSTS off, TIMING off, SUMMARY off) SELECT y.id FROM years y JOIN wanted "
                        "w ON w.id = y.id WHERE (SELECT ids FROM filters) @> y.id")
        self.assertEqual(2, len(re.findall("Remote SQL: .*@>", plan)), plan)
        fetched = [int(rows) for rows in re.findall(r"Async Foreign Scan on \S+year_.*rows=(\d+)", plan)]
        self.assertEqual(2, len(fetched), plan)
        for rows in fetched:
            self.check_rows(rows, 5000, 50, plan)

    def test_what_is_not_shipped(self):
        """What is right, but asks here: all rows cross. The table of docs/sql.md says so."""
        filter_ = "(SELECT ids FROM filters)"
        for query in ("SELECT o.id FROM orders o, filters f WHERE f.ids @> o.id",
                      "WITH f AS MATERIALIZED (SELECT ids AS b FROM filters) SELECT o.id FROM f, orders o WHERE f.b @> o.id",
                      "SELECT o.id FROM orders o WHERE (SELECT f.ids FROM filters f WHERE o.id > 0) @> o.id",
                      "SELECT o.id FROM orders o WHERE (SELECT bloom_agg(id::text) FROM wanted) @> o.id::text",
                      f"SELECT id FROM wanted w JOIN orders o USING (id) WHERE {filter_} @> id",
                      f"SELECT id FROM wanted w FULL JOIN orders o USING (id) WHERE {filter_} @> id"):
            rows, plan = self.fetched(query)
            removed = re.search(r"Foreign Scan on \S+orders.*\n *(?:Output.*\n *)?(?:Filter.*\n *)?Rows Removed by Filter: (\d+)",
                                plan)
            self.assertEqual(self.REMOTE, rows + (int(removed.group(1)) if removed else 0), plan)
            self.assertNotRegex(plan, r"Remote SQL: .*(bloom_contains|@>)")
            self.assertGreaterEqual(int(re.search(r"actual rows=(\d+)", plan).group(1)), self.MATCHING, plan)
        # The other way round the same name is the foreign column, and so it is with the name of its
        # table.
        self.check_shipped(f"SELECT id FROM orders o JOIN wanted w USING (id) WHERE {filter_} @> id")
        self.check_shipped(f"SELECT id FROM wanted w JOIN orders o USING (id) WHERE {filter_} @> o.id")

    def page(self, name):
        return (HERE.parent.parent / "docs" / name).read_text()

    def test_the_examples_of_the_page(self):
        """Every statement for PostgreSQL in docs/sql.md, in its order, with the tables that it
        takes for granted.
        """
        near, far = PLACE.servers[0], PLACE.servers[-1]
        near.sql("CREATE DATABASE page")
        far.sql("CREATE DATABASE shop")
        far.sql("CREATE EXTENSION bloomery; CREATE TABLE orders AS SELECT g::bigint AS id, '2026-11-01'::date + g AS day FROM "
                "generate_series(1, 500) g; CREATE TABLE orders_2025 (id bigint, day date); CREATE TABLE orders_2026 AS "
                "SELECT * FROM orders WHERE day < '2027-01-01'", database="shop")
        near.sql("CREATE EXTENSION postgres_fdw; CREATE TABLE visits AS SELECT generate_series(1, 100) AS id; CREATE TABLE "
                 "visitors AS SELECT generate_series(50, 300) AS id; CREATE TABLE wanted AS SELECT generate_series(7, 9)::bigint "
                 "AS id; CREATE TABLE log_1 AS SELECT generate_series(4000, 5000)::bigint AS user_id", database="page")
        mapping = "CREATE USER MAPPING FOR tester SERVER {} OPTIONS (user 'tester');"
        archive = (f"CREATE SERVER archive FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{far.folder}', dbname 'shop');" +
                   mapping.format("archive") + "DROP FOREIGN TABLE orders;")
        before = {"CREATE TABLE orders": archive}
        after = {"CREATE SERVER far": mapping.format("far") + "CREATE FOREIGN TABLE orders (id bigint, day date) SERVER far"}
        told = {"SELECT * FROM visitors": None, "SELECT o.*": "7|2026-11-08\n8|2026-11-09\n9|2026-11-10",
                "SELECT * FROM bloom_partitions": "log_1"}
        left = set(told) | set(before) | set(after)
        for block in re.findall(r"^```sql\n(.*?)^```", self.page("sql.md"), re.DOTALL | re.MULTILINE):
            lines = [re.sub(r" *--.*", "", line) for line in block.splitlines() if "-- SQLite" not in line]
            for statement in filter(str.strip, "\n".join(lines).split(";")):
                statement = statement.strip().replace("host 'far'", f"host '{far.folder}'")
                known = [start for start in left if statement.startswith(start)]
                left.difference_update(known)
                start = known[0] if known else None
                printed = near.sql(f"{before.get(start, '')}{statement};{after.get(start, '')}", database="page")
                if told.get(start):
                    self.assertEqual(told[start], printed, statement)
                if start == "SELECT * FROM visitors":
                    self.assertLessEqual({str(i) for i in range(50, 101)}, set(printed.split()))
                    self.assertLess(len(printed.split()), 60)
        self.assertEqual(set(), left)
        self.assertIn("@>", near.sql("EXPLAIN (VERBOSE) SELECT * FROM orders WHERE (SELECT bloom_agg(id) FROM wanted) @> id",
                                     database="page").split("Remote SQL", 1)[1])
        self.check_shell(self.page("sql.md"), "page")

    def check_shell(self, text, database):
        """The lines for a shell: a filter leaves the server and comes back."""
        folder = PLACE.data / "shell"
        folder.mkdir()
        folder.chmod(0o777)
        lines = "\n".join(re.findall(r"^    (psql .*)$", text, re.MULTILINE)).replace("/srv/", f"{folder}/")
        self.assertEqual(2, lines.count("psql"))
        environment = {**os.environ, "PGHOST": str(PLACE.servers[0].folder), "PGUSER": "tester", "PGDATABASE": database}
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", lines], cwd=folder, env=environment, capture_output=True,
                              text=True)
        self.assertEqual(0, done.returncode, done.stderr)
        asked = subprocess.run([TOOL, "info", folder / "seen.bloom"], capture_output=True, text=True)
        self.assertIn("blocked", asked.stdout)
        self.assertEqual("2|t", PLACE.servers[0].sql("SELECT count(*), count(DISTINCT ids::bytea) = 1 FROM seen",
                                                     database=database))

    def test_the_recipe_of_the_cookbook(self):
        """As a shell runs it, with what it shows."""
        near = PLACE.servers[0]
        recipe = re.search(r"^## \d+\. Only the wanted rows.*?(?=^## |\Z)", self.page("cookbook.md"), re.DOTALL | re.MULTILINE)
        environment = {**os.environ, "PGHOST": str(near.folder), "PGUSER": "tester",
                       "PATH": f"{Path(TOOL).parent}:/usr/lib/postgresql/15/bin:{os.environ['PATH']}"}
        parts = re.findall(r"^```sh\n(.*?)^```|((?:^    [^\n]*\n)+)", recipe.group(), re.DOTALL | re.MULTILINE)
        self.assertEqual(3, len(parts))
        printed = ""
        for commands, shown in parts:
            commands = commands.replace("OPTIONS (dbname", f"OPTIONS (host '{near.folder}', dbname")
            commands = commands.replace("CURRENT_USER SERVER archive", "CURRENT_USER SERVER archive OPTIONS (user 'tester')")
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=PLACE.data, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(0, done.returncode, done.stdout)
            printed = done.stdout if commands else printed
            for line in shown.splitlines():
                self.assertIn(line.strip(), [told.strip() for told in printed.splitlines()])


if __name__ == "__main__":
    unittest.main()
