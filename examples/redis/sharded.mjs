// A filter that is spread over a Redis cluster, from Node: what docs/redis.md calls "Cluster". It
// needs two packages:
//
//     npm install redis hash-wasm
//     bloomery redis add --cluster 127.0.0.1:7000 seen urls.txt
//     node sharded.mjs 127.0.0.1:7000 seen https://example.org/ ...
import { xxhash3 } from 'hash-wasm';
import { createClient, createCluster } from 'redis';

export class Sharded {
  static async open(client, name) {
    const self = new Sharded();
    self.client = client;
    self.name = name;
    const reply = await self.send(`${name}/0`, true, 'BF.SHARD', `${name}/0`);
    const layout = Array.isArray(reply) // RESP2; a map in RESP3
      ? Object.fromEntries(reply.flatMap((v, i) => (i % 2 ? [] : [[v, reply[i + 1]]]))) : reply;
    self.shards = BigInt(layout.shards);
    self.seed = BigInt(layout.seed);
    return self;
  }

  // A client of a cluster must be told the key, and whether the command only reads.
  send(key, reads, ...words) {
    return this.client.slots
      ? this.client.sendCommand(key, reads, words) : this.client.sendCommand(words);
  }

  // high64(XXH3(item) * shards)
  async key(item) {
    const hash = await xxhash3(item, Number(this.seed & 0xffffffffn), Number(this.seed >> 32n));
    return `${this.name}/${(BigInt('0x' + hash) * this.shards) >> 64n}`;
  }

  async byShard(items) {
    const groups = new Map();
    for (const [place, item] of items.entries()) {
      const key = await this.key(item);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(place);
    }
    return [...groups];
  }

  // Not BF.MADD, which would make a filter of another shape where a shard is missing.
  async add(items) {
    await Promise.all((await this.byShard(items)).map(([key, places]) =>
      this.send(key, false, 'BF.INSERT', key, 'NOCREATE', 'ITEMS', ...places.map(p => items[p]))));
  }

  async contains(items) {
    const answers = items.map(() => false);
    await Promise.all((await this.byShard(items)).map(async ([key, places]) => {
      const found = await this.send(key, true, 'BF.MEXISTS', key, ...places.map(p => items[p]));
      places.forEach((place, i) => { answers[place] = Boolean(found[i]); });
    }));
    return answers;
  }
}

export async function connect(address) {
  const url = `redis://${address}`;
  const cluster = createCluster({ rootNodes: [{ url }], useReplicas: false });
  cluster.on('error', () => {});
  try {
    await cluster.connect();
    return cluster;
  } catch {
    return createClient({ url }).connect(); // one server
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [address, name, ...items] = process.argv.slice(2);
  const client = await connect(address);
  const answers = await (await Sharded.open(client, name)).contains(items);
  items.forEach((item, i) => console.log(`${answers[i] ? '+' : '-'}\t${item}`));
  client.destroy();
}
