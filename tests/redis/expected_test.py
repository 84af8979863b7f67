"""What clients and tools of other modules expect: documentation, names of settings, options,
replies at the edges.
"""
import pathlib
import re
import shutil
import tempfile
import unittest

import harness


def as_dict(flat):
    return {(k.decode() if isinstance(k, bytes) else k): v for k, v in zip(flat[::2], flat[1::2])}


def text(reply):
    return reply.decode() if isinstance(reply, bytes) else reply


class documentation(harness.server_test):
    def docs(self, name):
        return as_dict(self.call("COMMAND", "DOCS", name)[1])

    def arguments(self, list_):
        return [as_dict(a) for a in list_]

    def test_every_command_is_documented(self):
        names = [text(n) for n in self.call("COMMAND", "LIST", "FILTERBY", "MODULE", "bf")]
        self.assertGreater(len(names), 50)
        for name in names:
            docs = self.docs(name)
            self.assertLessEqual({"summary", "since", "complexity", "arguments"}, set(docs), name)
            first = as_dict(docs["arguments"][0])
            self.assertEqual("key", text(first["type"]), name)
            # As many as the arity asks for, at least.
            arity = abs(self.call("COMMAND", "INFO", name)[0][1])
            least = 0
            for a in self.arguments(docs["arguments"]):
                if b"optional" in [f.encode() if isinstance(f, str) else f for f in a.get("flags", [])]:
                    continue
                least += (1 + ("token" in a and text(a["type"]) != "pure-token")) * len(a.get("arguments", [0]))
            self.assertEqual(arity - 1, least, name)

    def test_arguments(self):
        reserve = {text(a["name"]): a for a in self.arguments(self.docs("bf.reserve")["arguments"])}
        self.assertEqual(["key", "error", "capacity", "expansion", "nonscaling", "counting", "seconds", "shard"],
                         list(reserve))
        self.assertEqual(["key", "double", "integer", "integer", "pure-token", "pure-token", "block", "block"],
                         [text(a["type"]) for a in reserve.values()])
        self.assertEqual("EXPANSION", text(reserve["expansion"]["token"]))
        inside = self.arguments(reserve["seconds"]["arguments"])
        self.assertEqual(["WINDOW", "GENERATIONS"], [text(a["token"]) for a in inside])
        items = self.arguments(self.docs("bf.insert")["arguments"])[-1]
        self.assertEqual(("item", "ITEMS", ["multiple", "optional"]),
                         (text(items["name"]), text(items["token"]), sorted(text(f) for f in items["flags"])))
        field = self.arguments(self.docs("bf.info")["arguments"])[1]
        self.assertEqual("oneof", text(field["type"]))
        self.assertEqual(8, len(field["arguments"]))

    def test_access(self):
        """Servers from 7.2 on have categories; 7.0 knows commands and keys."""
        if not self.call("COMMAND", "INFO", "bf.add")[0][6]:
            self.skipTest("this server has no categories for commands of modules")
        asking = [("BF.EXISTS", "f", "a"), ("CF.COUNT", "c", "a"), ("CMS.QUERY", "m", "a"), ("TOPK.LIST", "t"),
                  ("TDIGEST.MAX", "d")]
        adding = [("BF.ADD", "f", "a"), ("CF.ADD", "c", "a"), ("CMS.INCRBY", "m", "a", "1"), ("TOPK.ADD", "t", "a"),
                  ("TDIGEST.ADD", "d", "1")]
        for made in (("CMS.INITBYDIM", "m", "10", "2"), ("TOPK.RESERVE", "t", "3"), ("TDIGEST.CREATE", "d"),
                     ("BF.ADD", "f", "x"), ("CF.ADD", "c", "x")):
            self.call(*made)
        for rules, allowed in ((["+@read"], asking), (["+@all", "-@write"], asking), (["+@write"], adding),
                               (["+@all", "-@read"], adding), (["+@fast"], adding[:4] + asking[:3] + asking[4:]),
                               (["+@slow"], [adding[4], asking[3]]), (["+@bloom"], [asking[0], adding[0]]),
                               (["+@cuckoo"], [asking[1], adding[1]]), (["+@cms"], [asking[2], adding[2]]),
                               (["+@topk"], [asking[3], adding[3]]), (["+@tdigest"], [asking[4], adding[4]]),
                               (["+@all", "-@bloom"], asking[1:] + adding[1:])):
            self.assertEqual("OK", self.call("ACL", "SETUSER", "limited", "reset", "on", "nopass", "~*", *rules), rules)
            other = harness.Raw(self.server.port, protocol=2)
            other("AUTH", "limited", "x")
            for command in asking + adding:
                refused = str(other(*command)).startswith("NOPERM")
                self.assertEqual(command in allowed, not refused, (rules, command))
            other.close()
        self.call("ACL", "DELUSER", "limited")

    def test_what_is_fast(self):
        """What is the same work for an item whatever the key holds, as the server has it for SADD
        and SPOP, is fast.
        """
        fast = {"bf": "reserve add madd insert rem mrem exists mexists card info debug shard",
                "cf": "reserve add addnx insert insertnx exists mexists count info del debug",
                "cms": "initbydim initbyprob incrby query info", "topk": "reserve add incrby query count info"}
        slow = {"bf": "merge compare stats rotate scandump loadchunk export import load",
                "cf": "compact scandump loadchunk export import", "cms": "merge scandump loadchunk export import",
                "topk": "list scandump loadchunk export import", "tdigest": "add merge load"}
        for are_fast, families in ((True, fast), (False, slow)):
            for family, names in families.items():
                for name in names.split():
                    flags = [text(f) for f in self.call("COMMAND", "INFO", f"{family}.{name}")[0][2]]
                    self.assertEqual(are_fast, "fast" in flags, f"{family}.{name}")
                    self.assertEqual(1, len({"write", "readonly"} & set(flags)), f"{family}.{name}")
        # These never need more memory.
        for name in ("bf.rem", "bf.mrem", "bf.rotate", "cf.del", "cf.compact"):
            self.assertNotIn("denyoom", [text(f) for f in self.call("COMMAND", "INFO", name)[0][2]])


class settings(harness.server_test):
    def set(self, name, value):
        self.assertEqual("OK", self.call("CONFIG", "SET", name, value), name)

    def get(self, name):
        return self.call("CONFIG", "GET", name)[1].decode()

    def test_other_names(self):
        for ours, theirs, value in (("bf.error-rate", "bf.bloom-fp-rate", "0.2"),
                                    ("bf.initial-size", "bf.bloom-capacity", "7"),
                                    ("bf.expansion-factor", "bf.bloom-expansion", "4")):
            before = self.get(ours)
            self.set(theirs, value)
            self.assertEqual(value, self.get(ours))
            self.set(ours, before)
            self.assertEqual(before, self.get(theirs))

    def test_names_of_redis_8(self):
        """They have no prefix, and mean the same."""
        names = {"bf-error-rate": "0.125", "bf-initial-size": "7", "bf-expansion-factor": "4",
                 "cf-initial-size": "5000", "cf-bucket-size": "4", "cf-max-iterations": "33",
                 "cf-expansion-factor": "2", "cf-max-expansions": "3"}
        if not self.call("CONFIG", "GET", "bf-error-rate"):
            self.assertNotIn("Invalid flag", self.server.log_text())
            self.skipTest("names without a prefix are Redis 8's")
        for theirs, value in names.items():
            ours = "bf." + theirs.removeprefix("bf-")
            before = self.get(ours)
            self.set(theirs, value)
            self.assertEqual(value, self.get(ours))
            self.set(ours, before)
            self.assertEqual(before, self.get(theirs))
        server = harness.Server(**names)
        self.addCleanup(server.stop)
        call = harness.Raw(server.port, protocol=2)
        self.addCleanup(call.close)
        self.assertEqual(names, {n: call("CONFIG", "GET", n)[1].decode() for n in names})
        call("BF.ADD", "f", "a")
        self.assertEqual([[7], [b"0.125"]], [call("BF.INFO", "f", field) for field in ("CAPACITY", "ERROR")])

    def test_cuckoo(self):
        for name, value in (("cf-initial-size", 5000), ("cf-bucket-size", 4), ("cf-max-iterations", 33),
                            ("cf-expansion-factor", 2)):
            self.set("bf." + name, value)
        self.call("CF.ADD", "c", "item")
        info = as_dict(self.call("CF.INFO", "c"))
        self.assertEqual([4, 33, 2], [info[f] for f in ("Bucket size", "Max iterations", "Expansion rate")])
        self.assertGreater(4 * info["Number of buckets"], 4999)
        for name, value in (("cf-initial-size", 1024), ("cf-bucket-size", 2), ("cf-max-iterations", 20),
                            ("cf-expansion-factor", 1)):
            self.set("bf." + name, value)

    def test_how_often_a_cuckoo_filter_grows(self):
        for most in (1, 3):
            self.set("bf.cf-max-expansions", most)
            self.call("CF.RESERVE", f"c{most}", 64)
            full = self.call("CF.INSERT", f"c{most}", "ITEMS", *range(1000))
            self.assertEqual(-1, full[-1])
            self.assertEqual("Maximum expansions reached", self.call("CF.ADD", f"c{most}", "more"))
            self.assertEqual(most, as_dict(self.call("CF.INFO", f"c{most}"))["Number of filters"])
        self.set("bf.cf-max-expansions", 65535)  # as the other module has it
        self.assertEqual("32", self.get("bf.cf-max-expansions"))
        self.assertEqual(1, self.call("CF.ADD", "c3", "more"))

    def test_configurations_of_other_modules(self):
        """They mean the same here, or nothing; and the server starts."""
        valkey = {"bf.bloom-capacity": 2**40, "bf.bloom-expansion": 2**31, "bf.bloom-fp-rate": "0.125",
                  "bf.bloom-tightening-ratio": "0.75", "bf.bloom-use-random-seed": "no",
                  "bf.bloom-memory-usage-limit": 2**27, "bf.bloom-defrag-enabled": "no"}
        server = harness.Server(**valkey)
        self.addCleanup(server.stop)
        call = harness.Raw(server.port, protocol=2)
        self.addCleanup(call.close)
        got = {name: call("CONFIG", "GET", name)[1].decode() for name in valkey}
        self.assertEqual(got, {n: str(v) for n, v in valkey.items()} | {"bf.bloom-capacity": str(2**30),
                                                                       "bf.bloom-expansion": "32768"})
        self.assertEqual(b"134217728", call("CONFIG", "GET", "bf.max-filter-bytes")[1])
        self.assertEqual("ERR Insufficient memory to create filter", call("BF.ADD", "f", "a"))
        for line in ("ERROR_RATE 0.25 INITIAL_SIZE 7 CF_MAX_EXPANSIONS 2", "bloom-capacity 7 bloom-fp-rate 0.25 "
                     "bloom-tightening-ratio 0.9 bloom-use-random-seed no bloom-defrag-enabled yes",
                     "bf-error-rate 0.25 bf-initial-size 7 cf-max-expansions 2"):
            server.shut_down()
            server.module_args, server.options = line, {"save": "", "bind": "127.0.0.1"}
            server.start()
            call = harness.Raw(server.port, protocol=2)
            self.addCleanup(call.close)
            call("BF.ADD", "f", "a")
            self.assertEqual([[7], [b"0.25"]], [call("BF.INFO", "f", field) for field in ("CAPACITY", "ERROR")], line)
        self.assertEqual(b"2", call("CONFIG", "GET", "bf.cf-max-expansions")[1])

    def test_the_configuration_of_the_package(self):
        """It lists all settings of ours, with the defaults."""
        text = (pathlib.Path(__file__).parents[2] / "apps" / "redis" / "bloomery.conf").read_text()
        listed = dict(re.findall(r"^# (bf\.\S+) (\S+)$", text, re.MULTILINE))
        known = {n.decode() for n in self.call("CONFIG", "GET", "bf.*")[::2]}
        self.assertEqual({n for n in known if "bloom" not in n}, set(listed))
        for name, value in listed.items():
            self.assertEqual(value, self.get(name))

    def test_a_rewritten_configuration(self):
        """A server writes its own into its file, as Sentinel tells it to after a failover, and
        starts with it. It adds a loadmodule line if the file itself has none, so there must be one.
        """
        folder = pathlib.Path(tempfile.mkdtemp(prefix="bloomery-redis-"))
        self.addCleanup(shutil.rmtree, folder)
        included, main = folder / "bloomery.conf", folder / "redis.conf"
        packaged = (pathlib.Path(__file__).parents[2] / "apps" / "redis" / "bloomery.conf").read_text()
        included.write_text(packaged.replace("# bf.initial-size 100", "bf.initial-size 7"))
        load = f"loadmodule {pathlib.Path(harness.MODULE).absolute()}\n"
        main.write_text(f"{load}include {included}\n")
        server = harness.Server(folder=folder, modules=[], file=main)
        self.addCleanup(server.stop)
        for _ in range(2):
            call = harness.Raw(server.port, protocol=2)
            self.assertEqual(b"7", call("CONFIG", "GET", "bf.initial-size")[1])
            self.assertEqual("OK", call("CONFIG", "SET", "bf.error-rate", "0.125"))
            self.assertEqual("OK", call("CONFIG", "REWRITE"))
            call.close()
            server.restart()
            call = harness.Raw(server.port, protocol=2)
            self.assertEqual(b"0.125", call("CONFIG", "GET", "bf.error-rate")[1])
            call.close()
            self.assertEqual(1, main.read_text().count("loadmodule"))
        server.shut_down()
        # Two lines stop the start, and the log says why.
        included.write_text(load)
        with self.assertRaises(RuntimeError) as failed:
            server.start()
        self.assertIn("is loaded already: leave one of the loadmodule lines", str(failed.exception))

    def test_one_in_the_file_is_not_undone_by_the_default_of_another(self):
        for name in ("bf.error-rate", "bf.bloom-fp-rate"):
            server = harness.Server(**{name: "0.125", "bf.bloom-capacity": "9", "bf.cf-bucket-size": "3"})
            self.addCleanup(server.stop)
            call = harness.Raw(server.port, protocol=2)
            self.addCleanup(call.close)
            call("BF.ADD", "f", "a")
            self.assertEqual([b"0.125"], call("BF.INFO", "f", "ERROR"))
            self.assertEqual([9], call("BF.INFO", "f", "CAPACITY"))
            call("CF.ADD", "c", "a")
            self.assertEqual(3, as_dict(call("CF.INFO", "c"))["Bucket size"])


class replies(harness.server_test):
    def test_small_rates(self):
        for rate, capacity in (("1e-10", "1000"), ("1e-13", "10000"), ("1e-15", "500")):
            key = "f" + rate
            self.assertEqual("OK", self.call("BF.RESERVE", key, rate, capacity, "NONSCALING"))
            self.assertEqual([1] * 500, self.call("BF.MADD", key, *range(500)))
            self.assertEqual([1] * 500, self.call("BF.MEXISTS", key, *range(500)))
            self.assertEqual(0, sum(self.call("BF.MEXISTS", key, *range(500, 5000))))
            self.assertEqual([rate.encode()], self.call("BF.INFO", key, "ERROR"))
        self.assertEqual(1, self.call("COPY", "f1e-10", "copy"))
        self.assertEqual("OK", self.call("BF.MERGE", "copy", "f1e-10"))
        self.call("DEBUG", "RELOAD")
        self.assertEqual([1] * 500, self.call("BF.MEXISTS", "copy", *range(500)))
        self.assertEqual("OK", self.call("BF.RESERVE", "grows", "1.6e-8", "100"))
        # In the client's own numbers, and with words that it has.
        self.refused("ERR the error rate 1e-08 is too small: a filter that grows can have 1.6e-08, a NONSCALING one of "
                     "100 items 8.673617379884035e-17", "BF.RESERVE", "k", "1e-8", "100")
        self.assertRegex(self.call("BF.RESERVE", "k", "1e-17", "100", "NONSCALING"), "^ERR the error rate 1e-17 is too")
        self.assertRegex(self.call("BF.INSERT", "k", "ERROR", "1e-9", "ITEMS", "a"), "^ERR the error rate 1e-09 is too")
        self.assertEqual(0, self.call("EXISTS", "k"))

    def test_an_empty_cuckoo_filter_has_no_pieces(self):
        self.call("CF.RESERVE", "c", "100")
        self.assertEqual([0, None], self.call("CF.SCANDUMP", "c", "0"))
        self.call("CF.ADD", "c", "a")
        self.assertEqual(1, self.call("CF.SCANDUMP", "c", "0")[0])

    def test_a_bad_increment(self):
        bad = "TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000"
        self.call("TOPK.RESERVE", "t", "3")
        self.assertEqual([None, bad], self.call("TOPK.INCRBY", "t", "a", "5", "b", "x", "c", "7"))
        self.assertEqual([bad], self.call("TOPK.INCRBY", "t", "a", "100001"))
        self.assertEqual([5, 0, 0], self.call("TOPK.COUNT", "t", "a", "b", "c"))

    def test_an_existing_sketch_comes_first(self):
        self.call("CMS.INITBYDIM", "s", "10", "2")
        for command in (("CMS.INITBYDIM", "s", "x", "2"), ("CMS.INITBYPROB", "s", "2", "0")):
            self.refused("CMS: key already exists", *command)
        self.refused("CMS: invalid overestimation value", "CMS.INITBYPROB", "n", "1", "0.5")
        self.refused("CMS: invalid prob value", "CMS.INITBYPROB", "n", "0.5", "1")
        self.refused("CMS: invalid init arguments", "CMS.INITBYPROB", "n", "1e-300", "0.5")
        self.assertEqual("OK", self.call("CMS.INITBYPROB", "n", "0.999", "0.999"))
        self.assertEqual([3, 1], [as_dict(self.call("CMS.INFO", "n"))[f] for f in ("width", "depth")])

    def test_options_of_others(self):
        self.assertEqual([1], self.call("BF.INSERT", "f", "VALIDATESCALETO", "100000", "TIGHTENING", "0.5", "SEED",
                                        "x" * 32, "ITEMS", "a"))
        self.refused("ERR cannot use NONSCALING and VALIDATESCALETO options together", "BF.INSERT", "g", "NONSCALING",
                     "VALIDATESCALETO", "100", "ITEMS", "a")
        self.refused("ERR invalid seed", "BF.INSERT", "g", "SEED", "x", "ITEMS", "a")
        self.refused("ERR bad tightening ratio", "BF.INSERT", "g", "TIGHTENING", "2", "ITEMS", "a")
        self.call("CONFIG", "SET", "bf.max-filter-bytes", "100000")
        self.refused("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit", "BF.INSERT", "g",
                     "VALIDATESCALETO", "10000000", "ITEMS", "a")
        self.call("CONFIG", "SET", "bf.max-filter-bytes", "0")
        self.assertEqual(0, self.call("EXISTS", "g"))
        self.assertEqual([None], self.call("BF.INFO", "f", "tightening"))
        self.assertGreater(self.call("BF.INFO", "f", "MAXSCALEDCAPACITY")[0], 10**6)
        self.assertEqual({"Error rate": 0.01}, self.three("BF.INFO", "f", "ERROR"))

    def test_load(self):
        self.call("BF.MADD", "f", *range(1000))
        whole, iterator = b"", 0
        while True:
            iterator, data = self.call("BF.SCANDUMP", "f", iterator)
            if not iterator:
                break
            whole += data
        self.assertEqual("OK", self.call("BF.LOAD", "g", whole))
        digests = self.call("DEBUG", "DIGEST-VALUE", "f", "g")
        self.assertEqual(digests[0], digests[1])
        self.refused("BUSYKEY Target key name already exists.", "BF.LOAD", "g", whole)
        for bad in (whole[:-1], whole + b"x", b"", whole[:200] + b"x" + whole[201:]):
            self.refused("ERR received bad data", "BF.LOAD", "h", bad)
        self.assertEqual(0, self.call("EXISTS", "h"))

    def test_debug(self):
        self.call("BF.MADD", "f", *range(1000))
        lines = self.call("BF.DEBUG", "f")
        self.assertEqual(b"size:%d" % self.call("BF.CARD", "f"), lines[0])
        self.assertEqual(self.call("BF.INFO", "f", "FILTERS")[0], len(lines) - 1)
        self.assertRegex(lines[1], rb"^bytes:\d+ bits:\d+ hashes:\d+ hashwidth:64 capacity:\d+ ratio:0.01$")
        self.call("CF.RESERVE", "c", "100", "BUCKETSIZE", "4")
        self.call("CF.ADD", "c", "a")
        self.assertRegex(self.call("CF.DEBUG", "c"),
                         rb"^bktsize:4 buckets:\d+ items:1 deletes:0 filters:1 max_iterations:20 expansion:1$")
        self.refused("ERR not found", "BF.DEBUG", "missing")


if __name__ == "__main__":
    unittest.main()
