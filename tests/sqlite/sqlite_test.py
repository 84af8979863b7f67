"""SQLite's extension, in Python's sqlite3 and in the shell: keys and bytes as the tool has them,
every function, wrong calls, and filters with altered bytes. Needs BLOOMERY and BLOOMERY_SQLITE.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "sql"))
import mutations  # noqa: E402

TOOL = os.environ["BLOOMERY"]
EXTENSION = os.environ["BLOOMERY_SQLITE"]
MUTATIONS = int(os.environ.get("BLOOMERY_SQL_MUTATIONS", 1500))
KINDS = ("blocked", "split-block", "classic", "partitioned", "counting", "scalable", "layered", "cuckoo", "windowed",
         "spectral")


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(EXTENSION)
    return db


class sqlite_test(unittest.TestCase):
    def setUp(self):
        self.db = connect()
        self.db.execute("CREATE TABLE t AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n "
                        "WHERE x < 3000) SELECT x, 'key ' || x AS word FROM n")

    def tearDown(self):
        self.db.close()

    def one(self, text, *values):
        return self.db.execute(text, values).fetchone()[0]

    def refused(self, message, text, *values):
        with self.assertRaisesRegex((sqlite3.OperationalError, sqlite3.DataError), message):
            self.db.execute(text, values).fetchall()

    def tool_file(self, lines, *options):
        path = Path(self.folder()) / "f.bloom"
        subprocess.run([TOOL, "build", "-q", "-o", path, *options, "-"], input="".join(f"{s}\n" for s in lines),
                       text=True, check=True)
        return path

    def folder(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def test_bytes_are_those_of_the_tool(self):
        numbers = self.tool_file(range(1, 3001), "--integers", "--keys", "3000")
        words = self.tool_file((f"key {i}" for i in range(1, 3001)), "--keys", "3000")
        for aggregate, file in (("bloom_agg(x, 3000, 0.01)", numbers), ("bloom_agg(x)", numbers),
                                ("bloom_agg(word, 3000, 0.01)", words), ("bloom_agg(word)", words)):
            self.assertEqual(file.read_bytes(), self.one(f"SELECT {aggregate} FROM t"), aggregate)

    def test_databases_in_utf_16(self):
        """Text is UTF-8 when it becomes a key, whatever the database keeps."""
        words = ["grün", "naïve", "日本語", "🌸", "plain"]
        file = self.tool_file(words, "--keys", "5")
        for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
            self.db.close()
            self.db = connect()
            self.db.execute(f"PRAGMA encoding = '{encoding}'")
            self.db.execute("CREATE TABLE w (word TEXT)")
            self.db.executemany("INSERT INTO w VALUES (?)", [(word,) for word in words])
            self.assertEqual(encoding, self.one("PRAGMA encoding"))
            self.assertEqual(5, self.one("SELECT count(*) FROM w WHERE bloom_contains(bloom_file(?), word)", str(file)))
            self.assertEqual(5, self.one("SELECT count(*) FROM w WHERE bloom_contains(?, word)", file.read_bytes()))
            self.assertEqual(0, self.one("SELECT count(*) FROM w WHERE bloom_contains(?, word || 'ü')", file.read_bytes()))
            for call in ("bloom_agg(word, 5, 0.01)", "bloom_agg(word)"):
                self.assertEqual(file.read_bytes(), self.one(f"SELECT {call} FROM w"), (call, encoding))
            rows = self.db.execute("SELECT key FROM bloom_top((SELECT top_k_agg(word, 5) FROM w))").fetchall()
            self.assertEqual(set(words), {key for key, in rows}, encoding)
            self.refused("kind", "SELECT bloom(9, 0.1, 'größe')")

    def test_a_file_of_the_tool_is_mapped_and_asked(self):
        words = self.tool_file([f"key {i}" for i in range(1, 3001)])
        ask = "SELECT count(*) FROM t WHERE bloom_contains(bloom_file(?), word)"
        self.assertEqual(3000, self.one(ask, str(words)))
        words.unlink()  # the mapping stays
        self.assertEqual(3000, self.one(ask, str(words)))
        self.refused("No such file", "SELECT bloom_contains(bloom_file('/nowhere'), 1)")
        self.assertIsNone(self.one("SELECT bloom_file(NULL)"))
        self.db.execute("CREATE VIEW v AS SELECT bloom_contains(bloom_file('/etc/passwd'), 1)")
        self.refused("unsafe use of bloom_file", "SELECT * FROM v")

    def test_keys_of_different_types_are_different(self):
        self.db.execute("CREATE TABLE f AS SELECT bloom_add(bloom_add(bloom(10), 42), x'00ff') AS b")
        asked = self.db.execute("SELECT bloom_contains(b, 42), bloom_contains(b, '42'), bloom_contains(b, x'00ff'), "
                                "bloom_contains(b, NULL), bloom_contains(NULL, 1) FROM f").fetchone()
        self.assertEqual((1, 0, 1, None, None), asked)
        self.refused("REAL is no key", "SELECT bloom_contains(b, 1.5) FROM f")
        # A filter of one type says so, instead of an answer that is always no.
        self.refused("its keys are integers", "SELECT bloom_contains(bloom_agg(x), '42') FROM t")
        self.refused("its keys are integers", "SELECT bloom_agg(k) FROM (SELECT 1 AS k UNION ALL SELECT 'one')")

    def test_adding_null_changes_nothing(self):
        self.db.execute("CREATE TABLE f AS SELECT bloom_agg(x) AS b FROM t")
        self.assertEqual((1, None, "blob"), self.db.execute(
            "SELECT bloom_add(b, NULL) = b, bloom_add(NULL, 1), typeof(bloom_add(bloom_open(b), NULL)) FROM f").fetchone())
        self.refused("is a BLOB", "SELECT bloom_add('a', NULL)")

    def test_several_filters_in_turns(self):
        """More than are kept open: each value is asked for itself, whatever lies where in memory.
        """
        self.db.execute("CREATE TABLE f AS SELECT x % 7 AS part, bloom_agg(x, 500, 0.0001) AS b FROM t GROUP BY 1")
        for order in ("t.x, f.part", "f.part, t.x"):
            rows = self.db.execute("SELECT t.x, f.part FROM t, f WHERE t.x <= 300 AND bloom_contains(f.b, t.x) "
                                   f"ORDER BY {order}").fetchall()
            self.assertLessEqual({(x, x % 7) for x in range(1, 301)}, set(rows))
            self.assertLess(len(rows), 310)

    def test_filters_that_are_constants_of_a_statement(self):
        """SQLite keeps what belongs to a parameter: more of them than are kept open, and others in
        the next run.
        """
        parts = [self.one("SELECT bloom_agg(x, 500, 1e-6) FROM t WHERE x % 6 = ?", part) for part in range(6)]
        asked = " + ".join(f"{10 ** part} * bloom_contains(?{part + 1}, x)" for part in range(6))
        for turn in range(6):
            filters = parts[turn:] + parts[:turn]
            rows = self.db.execute(f"SELECT x, {asked} FROM t WHERE x <= 600", filters).fetchall()
            wrong = [x for x, told in rows if told != 10 ** ((x - turn) % 6)]
            self.assertLessEqual(len(wrong), 1, wrong)
        # One that goes on while others push its filter out.
        cursor = self.db.execute("SELECT x, bloom_contains(?, x) FROM t WHERE x <= 600", (parts[0],))
        for x, told in cursor:
            self.assertTrue(told or x % 6 != 0, x)
            for part in parts[1:] if x % 100 == 0 else ():
                self.assertEqual(500, self.one("SELECT count(*) FROM t WHERE x % 6 = ? AND bloom_contains(?, x)",
                                               parts.index(part), part))

    def test_growing_aggregate_fits_the_different_keys(self):
        self.assertIsNone(self.one("SELECT bloom_agg(x) FROM t WHERE 0"))
        self.assertIsNone(self.one("SELECT bloom_agg(NULL, 10, 0.1) FROM t"))
        many = self.one("SELECT bloom_agg(x) FROM t")
        few = self.one("SELECT bloom_agg(x % 30) FROM t")
        self.assertLess(len(few), len(many) / 3)
        self.assertEqual(30, self.one("SELECT count(*) FROM t WHERE x < 30 AND bloom_contains(?, x)", few)
                         + self.one("SELECT bloom_contains(?, 0)", few))
        order = self.one("SELECT bloom_agg(x % 30) FROM (SELECT x FROM t ORDER BY x DESC)")
        self.assertEqual(few, order)

    def test_sets(self):
        self.db.execute("CREATE TABLE f AS SELECT bloom_agg(x, 3000, 0.01) FILTER (WHERE x <= 2000) AS a, "
                        "bloom_agg(x, 3000, 0.01) FILTER (WHERE x > 1000) AS b, bloom_agg(x, 3000, 0.01) AS u FROM t")
        united = self.one("SELECT bloom_union(a, b) FROM f")
        whole = json.loads(self.one("SELECT bloom_compare(?, u) FROM f", united))
        self.assertEqual(1, whole["jaccard"])
        found = json.loads(self.one("SELECT bloom_compare(a, b) FROM f"))
        self.assertAlmostEqual(1000, found["keys_intersection"], delta=150)
        self.assertAlmostEqual(3000, self.one("SELECT bloom_count(u) FROM f"), delta=100)
        self.assertEqual(1, self.one("SELECT bloom_contains(bloom_intersection(a, b), 1500) FROM f"))
        self.assertEqual(united, self.one("SELECT bloom_union_agg(k) FROM (SELECT a AS k FROM f UNION ALL "
                                          "SELECT NULL UNION ALL SELECT b FROM f)"))
        self.assertEqual(1, self.one("SELECT bloom_contains(bloom_fold(u, 2), 7) FROM f"))
        self.assertEqual(1, self.one("SELECT bloom_fold(u) = bloom_fold(u, 2) FROM f"))
        self.assertEqual(1, self.one("SELECT bloom_unpack(bloom_pack(u)) = u FROM f"))
        self.assertEqual("blocked", self.one("SELECT json_extract(bloom_info(u), '$.kind') FROM f"))
        self.refused("", "SELECT bloom_union(u, bloom(10)) FROM f")

    def test_counts_and_frequent_keys(self):
        self.assertEqual(429, self.one("SELECT bloom_count(count_min_agg(x % 7, 0.001, 0.01), 3) FROM t"))
        rows = self.db.execute("SELECT key, count FROM bloom_top((SELECT top_k_agg(min(x, 5), 3) FROM t)) LIMIT 1")
        self.assertEqual(("5", 2996), rows.fetchone())
        self.assertEqual([], self.db.execute("SELECT * FROM bloom_top(NULL)").fetchall())
        self.assertEqual([], self.db.execute("SELECT * FROM bloom_top").fetchall())
        self.refused("", "SELECT * FROM bloom_top(bloom(10))")

    def test_frequent_keys_of_a_sketch_behind_a_pointer(self):
        """Of a file, of a subquery, and of each row, whose pointer is gone when the next one comes.
        """
        self.db.execute("CREATE TABLE s AS SELECT part, top_k_agg(min(x, part), 3) AS b FROM t, (SELECT 5 AS part "
                        "UNION ALL SELECT 9) GROUP BY part")
        five = "(SELECT b FROM s WHERE part = 5)"
        rows = self.db.execute(f"SELECT * FROM bloom_top({five})").fetchall()
        self.assertEqual((3, ("5", 2996)), (len(rows), rows[0]))
        path = Path(self.folder()) / "s.bloom"
        path.write_bytes(self.one(f"SELECT {five}"))
        for sketch in (f"bloom_file('{path}')", "(SELECT bloom_open(b) FROM s WHERE part = 5)", f"bloom_open({five})"):
            self.assertEqual(rows, self.db.execute(f"SELECT * FROM bloom_top({sketch})").fetchall(), sketch)
        asked = "SELECT part, key, count FROM s, bloom_top({}) ORDER BY part, count DESC, key"
        each = self.db.execute(asked.format("b")).fetchall()
        self.assertEqual(((5, "5", 2996), (9, "9", 2992)), (each[0], each[3]))
        self.assertEqual(each, self.db.execute(asked.format("bloom_open(b)")).fetchall())
        self.refused("does not list its keys", "SELECT * FROM bloom_top((SELECT bloom_open(bloom(10))))")
        self.db.execute(f"CREATE VIEW v AS SELECT * FROM bloom_top(bloom_file('{path}'))")
        self.refused("unsafe use of bloom_file", "SELECT * FROM v")

    def test_an_opened_filter_lives_in_its_expression(self):
        """As the documents say: asked as an argument or in a scalar subquery, which may depend on
        the row; NULL in a table, a view, a WITH, behind FROM or behind ORDER BY, so that no row is
        found.
        """
        self.db.execute("CREATE TABLE f AS SELECT x % 3 AS part, bloom_agg(x, 1000, 1e-6) AS b FROM t GROUP BY 1")
        one = "SELECT bloom_open(b) AS opened FROM f WHERE part = 1"
        answer = self.db.execute("SELECT x FROM t WHERE bloom_contains((SELECT b FROM f WHERE part = 1), x)").fetchall()
        self.assertLessEqual({(x,) for x in range(1, 3001, 3)}, set(answer))
        self.assertLess(len(answer), 1010)
        self.assertEqual(answer, self.db.execute(f"SELECT x FROM t WHERE bloom_contains(({one}), x)").fetchall())
        self.assertEqual(3000, self.one("SELECT count(*) FROM t WHERE bloom_contains((SELECT bloom_open(b) FROM f "
                                        "WHERE part = t.x % 3), x)"))
        self.assertEqual(3000, self.one("SELECT count(*) FROM t, f WHERE part = x % 3 AND bloom_contains(bloom_open(b), x)"))
        self.assertEqual(answer[:1], self.db.execute(
            f"SELECT x FROM t WHERE x = 1 AND bloom_contains(bloom_union(({one}), ({one})), x)").fetchall())
        self.db.execute(f"CREATE TABLE kept AS {one}")
        self.db.execute(f"CREATE VIEW shown AS {one}")
        for source in ("kept", "shown", f"({one})"):
            self.assertEqual(0, self.one(f"SELECT count(*) FROM t, {source} WHERE bloom_contains(opened, x)"), source)
        for source in ("kept", "shown"):
            self.assertEqual(0, self.one(f"SELECT count(*) FROM t WHERE bloom_contains((SELECT opened FROM {source}), x)"))
        for call in ("FROM t, w WHERE bloom_contains(opened, x)", "FROM t WHERE bloom_contains((SELECT opened FROM w), x)"):
            self.assertEqual(0, self.one(f"WITH w AS ({one}) SELECT count(*) {call}"), call)
        self.assertEqual(0, self.one(f"SELECT count(*) FROM t WHERE bloom_contains(({one} ORDER BY length(b)), x)"))

    def test_wrong_calls(self):
        for message, call in (("at least 1", "bloom(0)"), ("at least 1", "bloom(-5)"), ("between 0 and 1", "bloom(9, 0)"),
                              ("between 0 and 1", "bloom(9, 2)"), ("no kind", "bloom(9, 0.1, 'bloom')"),
                              ("at once", "bloom(9, 0.1, 'fuse')"), ("too big", "bloom(1000000000000)"),
                              ("does not start", "bloom_contains(x'00', 1)"), ("is a BLOB", "bloom_contains('a', 1)"),
                              ("does not start", "bloom_info(x'')"), ("by is 0,", "bloom_fold(bloom(1000), 0)"),
                              ("by is -1, but it must be at least 1", "bloom_fold(bloom(1000), -1)"),
                              ("at least 1", "bloom_agg(1, 0, 0.1)"), ("too big", "bloom_agg(1, 1000000000000, 0.1)"),
                              ("between", "count_min_agg(1, 0, 0)"), ("at least 1", "top_k_agg(1, 0)")):
            self.refused(message, f"SELECT {call}")

    def test_what_no_value_can_hold_is_refused_at_the_first_row(self):
        rows = []
        self.db.create_function("read", 1, lambda x: rows.append(x) or x)
        self.db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        for call in ("bloom_agg(read(x), 10000000, 0.01)", "count_min_agg(read(x), 1e-5, 0.01)",
                     "top_k_agg(read(x), 100000)"):
            rows.clear()
            self.refused("too big", f"SELECT {call} FROM t")
            self.assertEqual([1], rows, call)

    def test_altered_filters_are_refused_or_answer(self):
        images = [self.one("SELECT bloom_add(bloom(50, 0.01, ?), 1)", kind) for kind in KINDS]
        images.append(self.one("SELECT top_k_agg(x % 50, 5) FROM t"))
        images.append(self.one("SELECT count_min_agg(x, 0.1, 0.1) FROM t"))
        images.append(self.one("SELECT bloom_pack(bloom_agg(x)) FROM t"))
        calls = ("bloom_contains(?1, 1)", "bloom_contains(?1, 'a')", "bloom_add(?1, 7)", "bloom_add(?1, 'b')",
                 "bloom_info(?1)", "bloom_count(?1)", "bloom_count(?1, 3)", "bloom_union(?1, ?1)", "bloom_pack(?1)",
                 "bloom_intersection(?1, ?1)", "bloom_fold(?1, 2)", "bloom_compare(?1, ?1)", "bloom_unpack(?1)",
                 "(SELECT count(*) FROM bloom_top(?1))")
        answered = 0
        for number, image in enumerate(mutations.mutated(images, MUTATIONS)):
            try:
                self.one(f"SELECT {calls[number % len(calls)]}", image)
                answered += 1
            except (sqlite3.OperationalError, sqlite3.DataError):
                pass
        self.assertTrue(0 < answered < MUTATIONS, answered)
        self.assertEqual(1, self.one("SELECT bloom_contains(?, 1)", images[0]))

    def test_the_shell_loads_it(self):
        if not shutil.which("sqlite3"):
            self.skipTest("no sqlite3")
        told = subprocess.run(["sqlite3", ":memory:", ".load " + EXTENSION,
                               "SELECT bloom_contains(bloom_agg(value, 10, 0.01), 3) FROM (SELECT 3 AS value)"],
                              capture_output=True, text=True)
        self.assertEqual(("1\n", ""), (told.stdout, told.stderr))


if __name__ == "__main__":
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        print("skipped: this Python's sqlite3 loads no extensions")
        sys.exit(77)
    unittest.main()
