#!/usr/bin/python3
"""A filter that is spread over a Redis cluster, from Python: what docs/redis.md calls "Cluster" in
twenty lines. It needs the Debian packages python3-redis and python3-xxhash.

    bloomery redis add --cluster 127.0.0.1:7000 seen urls.txt
    sharded.py 127.0.0.1:7000 seen https://example.org/ ...
"""
import sys

import redis
import xxhash


class Sharded:
    def __init__(self, client, name):
        self.client, self.name = client, name
        # The command names the key because the client finds the node by it.
        reply = client.execute_command("BF.SHARD", f"{name}/0")
        layout = dict(zip(reply[::2], reply[1::2]))
        self.shards, self.seed = layout[b"shards"], int(layout[b"seed"])

    def key(self, item):
        """high64(XXH3(item) * shards)"""
        return f"{self.name}/{xxhash.xxh3_64_intdigest(item, self.seed) * self.shards >> 64}"

    def _by_shard(self, items):
        groups = {}
        for place, item in enumerate(items):
            groups.setdefault(self.key(item), []).append(place)
        return groups.items()

    def add(self, items):
        # Not BF.MADD, which would make a filter of another shape where a shard is missing.
        for key, places in self._by_shard(items):
            self.client.execute_command("BF.INSERT", key, "NOCREATE", "ITEMS",
                                        *(items[p] for p in places))

    def contains(self, items):
        answers = [False] * len(items)
        for key, places in self._by_shard(items):
            found = self.client.execute_command("BF.MEXISTS", key, *(items[p] for p in places))
            for place, answer in zip(places, found):
                answers[place] = bool(answer)
        return answers


def connect(address):
    host, port = address.rsplit(":", 1)
    try:
        return redis.RedisCluster(host=host, port=int(port))
    except redis.exceptions.RedisClusterException:  # one server
        return redis.Redis(host=host, port=int(port))


if __name__ == "__main__":
    sharded = Sharded(connect(sys.argv[1]), sys.argv[2])
    questions = [argument.encode() for argument in sys.argv[3:]]
    for question, found in zip(questions, sharded.contains(questions)):
        print("+" if found else "-", question.decode(), sep="\t")
