"""A second writer of the payloads of kinds 4 and up, from docs/format.md alone: the same calls give
the same words.

It takes a Filter that was read, makes an empty payload of the same shape and size, and adds to
that:

    words_again(bloom, keys)                     keys in the order in which they were added
    words_again(bloom, keys, values=values)      a map
    words_again(bloom, keys, removed=keys)       keys that were then removed

Slow and plain: it is for comparing.
"""

import kinds
from kinds import MASK32, MASK64, PROBE_MULTIPLIER, ceil_div, fold, high64, low64, mix
from kinds import splitmix64


class Words:
    """The payload that is written: the read function of kinds.Payload, and cells that can be set.
    """

    def __init__(self, count):
        self.data = bytearray(8 * count)

    def read(self, first, count):
        return bytes(self.data[first:first + count])

    def set_word(self, index, value):
        self.data[8 * index:8 * index + 8] = value.to_bytes(8, "little")

    def set_cell(self, start, index, width, value):
        position = start + index * width
        first, end = position // 8, ceil_div(position + width, 8)
        whole = int.from_bytes(self.data[first:end], "little")
        mask = (1 << width) - 1 << position % 8
        self.data[first:end] = (whole & ~mask | value << position % 8).to_bytes(end - first, "little")

    def append(self, count):
        self.data += bytes(8 * count)


def opened(bloom, words):
    return kinds.PAYLOADS[bloom.kind](bloom.fields | {"bits": 8 * len(words.data), "keys": MASK64}, words.read)


def counting(bloom, hashes, removed=()):
    words = Words(bloom.payload.words)
    filled = opened(bloom, words)
    width = filled.cell_bits

    def count(h, step):
        for counter in filled.counters(h):
            value = filled.cell(0, counter, width)
            words.set_cell(0, counter, width, value if value == 2**width - 1 else value + step)

    for h in hashes:
        count(h, 1)
    for h in removed:
        if filled.count(h) != 0:
            count(h, -1)
    return words


class Lines:
    """Cells in lines that double. A line has those that are not 0: the others follow them."""

    def __init__(self, lines, width, most_doublings):
        self.lines = [[] for _ in range(lines)]
        self.width, self.cells = width, kinds.LINE_CELLS[width]
        self.most_doublings, self.doublings, self.stored = most_doublings, 0, 0
        self.stash = []

    def capacity(self):
        return kinds.LINE_KEYS[self.width] * len(self.lines)

    def contains(self, h):
        line, q = kinds.line_place(h, len(self.lines), self.width)
        return (any(kinds.fits(cell, q) for cell in self.lines[line])
                or len(self.lines[line]) == self.cells and self.in_stash(h or 1))

    def in_stash(self, x):
        for slot in kinds.stash_slots(x, len(self.stash)):
            if self.stash[slot] in (0, x):
                return self.stash[slot] == x
        return False

    def add(self, h):
        if self.contains(h):
            return
        room = 512 + 1024 * len(self.lines) < 2**48
        if self.stored >= self.capacity() and self.doublings < self.most_doublings and room:
            self.double()
        self.put(h)
        self.stored += 1

    def put(self, h):
        line, q = kinds.line_place(h, len(self.lines), self.width)
        if len(self.lines[line]) == self.cells:
            self.to_stash(h or 1)
        else:
            self.lines[line].append(q | 1)

    def to_stash(self, x):
        held = [other for other in self.stash if other]
        if (len(held) + 1) * 2 > len(self.stash):
            self.stash = [0] * max(16, 2 * len(self.stash))
            for other in held:
                self.place(other)
        self.place(x)

    def place(self, x):
        self.stash[next(slot for slot in kinds.stash_slots(x, len(self.stash)) if self.stash[slot] == 0)] = x

    def double(self):
        top = 1 << self.width - 1  # a fingerprint of no bits
        old, self.lines = self.lines, [[] for _ in range(2 * len(self.lines))]
        for i, cells in enumerate(old):
            for cell in cells:
                if cell == top:
                    self.lines[2 * i].append(cell)
                    self.lines[2 * i + 1].append(cell)
                else:
                    self.lines[2 * i + cell // top].append(cell % top * 2)
        self.doublings += 1
        held, self.stash = [x for x in self.stash if x], []
        for x in held:
            self.put(x)

    def words(self):
        words = Words(8 + 8 * len(self.lines))
        for index, value in enumerate((len(self.lines), self.stored, self.doublings, len(self.stash))):
            words.set_word(index, value)
        in_word = 64 // self.width
        for line, cells in enumerate(self.lines):
            for i, cell in enumerate(cells):
                words.set_cell(64 * (8 + 8 * line + i // in_word), i % in_word, self.width, cell)
        for x in self.stash:
            words.data += x.to_bytes(8, "little")
        return words


def scalable(bloom, hashes):
    filled = Lines(bloom.payload.lines >> bloom.payload.doublings, bloom.fields["cell bits"], bloom.fields["variant"])
    for h in hashes:
        filled.add(h)
    return filled.words()


def next_layer(first, number, variant):
    """Blocks and capacity of layer `number` after the first, which is (blocks, capacity)."""
    factor, spread, steep = variant & 255, variant >> 8 & 255, variant >> 16
    early = 14 if steep else 8
    whole = first[1]
    for _ in range(number):
        times = factor
        if steep and whole < 2**24:
            times = max(factor, min(32, max(4, 2**20 // whole)))
        capacity, whole = whole * (times - 1), whole * times
    assert number <= 2 * early and whole <= 2**60
    blocks = first[0] * (16 + spread) * capacity // (first[1] * 16) + 1
    return blocks + (blocks // 8 + 1 if number > early else 0), capacity


def layered(bloom, hashes):
    layers = []  # blocks, capacity, stored keys, the bits that are set

    def append(blocks, capacity):
        layers.append([blocks, capacity, 0, set()])

    append(bloom.payload.layers[0][1], max(1, bloom.fields["planned keys"]))
    for h in hashes:
        positions = [set(kinds.blocked_positions(h, bloom.fields["probes"], 512 * layer[0])) for layer in layers]
        if any(p <= layer[3] for p, layer in zip(positions, layers)):
            continue
        if layers[-1][2] >= layers[-1][1]:
            append(*next_layer(layers[0][:2], len(layers), bloom.fields["variant"]))
        last = layers[-1]
        last[3] |= set(kinds.blocked_positions(h, bloom.fields["probes"], 512 * last[0]))
        last[2] += 1

    start = 8 * ceil_div(8 + 4 * len(layers), 8)
    words = Words(start + 8 * sum(layer[0] for layer in layers))
    words.set_word(0, len(layers))
    for i, (blocks, capacity, stored, positions) in enumerate(layers):
        for word, value in enumerate((blocks, capacity, stored)):
            words.set_word(8 + 4 * i + word, value)
        for position in positions:
            words.set_cell(64 * start, position, 1, 1)
        start += 8 * blocks
    return words


def windowed(bloom, hashes):
    """Of a filter without a window of time."""
    assert bloom.payload.by_time == 0
    g = bloom.fields["variant"]
    window = max(g, bloom.fields["planned keys"])
    words = Words(bloom.payload.words)
    words.set_word(0, window)
    words.set_word(3, kinds.ceil_div(window, g))
    filled = opened(bloom, words)
    current = 0
    for h in hashes:
        if filled.word(9 + 4 * current) == filled.quota:
            current = (current + 1) % (g + 1)
            words.set_word(4, current)
            words.set_word(8 + 4 * current, 0)
            words.set_word(9 + 4 * current, 0)
            line, plane = divmod(current, filled.cell_bits)
            wiped = (1 << filled.positions) - 1 << plane * filled.positions
            for block in range(filled.blocks):
                start = 64 * filled.head + 512 * (filled.lines * block + line)
                for lane in range(16):
                    words.set_cell(start, lane, 32, filled.cell(start, lane, 32) & ~wiped)
        before = bytes(words.data)
        for position in filled.bits_of(h, current):
            words.set_cell(0, position, 1, 1)
        is_new = before != bytes(words.data)
        words.set_word(8 + 4 * current, filled.word(8 + 4 * current) + 1)
        words.set_word(9 + 4 * current, filled.word(9 + 4 * current) + is_new)
    return words


class CuckooLayer:
    def __init__(self, base, scale, cells):
        self.scale = scale
        self.buckets = [[0] * cells for _ in range(base << scale)]
        self.used = 0

    def planned(self):
        cells = len(self.buckets[0])
        share = (450, 850, 935, 960, 970, 975, 980, 985)[min(cells, 8) - 1]
        slots = cells * len(self.buckets)
        return slots // 1000 * share + slots % 1000 * share // 1000 - min(32 // cells**2, slots // 8)


def cuckoo(bloom, hashes, removed=()):
    table, cells = bloom.payload, bloom.payload.bucket
    most, expansion = 32, 2
    layers = [CuckooLayer(table.base, 0, cells)]

    def buckets_of(layer, h):
        first = high64(h, len(layer.buckets))
        return first, table.partner(first, table.fingerprint(h), layer.scale)

    def to_empty_cell(layer, h):
        empty = [(layer.buckets[bucket].index(0), i, bucket) for i, bucket in enumerate(buckets_of(layer, h))
                 if 0 in layer.buckets[bucket]]
        if not empty:
            return False
        cell, _, bucket = min(empty)
        layer.buckets[bucket][cell] = table.fingerprint(h)
        return True

    def by_moving(layer, h):
        # A node of the queue: the bucket, and the path of (bucket, cell) that led to it.
        queue = [(bucket, []) for bucket in dict.fromkeys(buckets_of(layer, h))]
        for bucket, path in queue:
            for s in range(cells):
                target = table.partner(bucket, layer.buckets[bucket][s], layer.scale)
                if target == bucket or target in (b for b, _ in path):
                    continue
                if 0 not in layer.buckets[target]:
                    if len(queue) < 512:
                        queue.append((target, path + [(bucket, s)]))
                    continue
                cell = layer.buckets[target].index(0)
                for from_bucket, from_cell in reversed(path + [(bucket, s)]):
                    layer.buckets[target][cell] = layer.buckets[from_bucket][from_cell]
                    target, cell = from_bucket, from_cell
                layer.buckets[target][cell] = table.fingerprint(h)
                return True
        return False

    def add(h):
        for layer in reversed(layers):
            if to_empty_cell(layer, h):
                return layer
        for layer in reversed(layers):
            if (layer is layers[-1] or layer.used < layer.planned()) and by_moving(layer, h):
                return layer
        assert len(layers) < most
        few = sum(layer.used for layer in layers) < sum(layer.planned() for layer in layers) // 2
        scale = 0 if few else min(31, max(layer.scale for layer in layers) + expansion.bit_length() - 1)
        layers.append(CuckooLayer(table.base, scale, cells))
        assert to_empty_cell(layers[-1], h)
        return layers[-1]

    def remove(h):
        for layer in sorted(reversed(layers), key=lambda layer: -layer.scale):
            for bucket in buckets_of(layer, h):
                if table.fingerprint(h) in layer.buckets[bucket]:
                    layer.buckets[bucket][layer.buckets[bucket].index(table.fingerprint(h))] = 0
                    layer.used -= 1
                    return

    for h in hashes:
        add(h).used += 1
    for h in removed:
        remove(h)

    words = Words(8 + 8 * ceil_div(len(layers), 4))
    for index, value in enumerate((len(layers), most, expansion)):
        words.set_word(index, value)
    for i, layer in enumerate(layers):
        words.set_word(8 + 2 * i, len(layer.buckets))
        words.set_word(9 + 2 * i, layer.used)
        start = 8 * len(words.data)
        words.append(table.layer_words(len(layer.buckets)))
        for index, fingerprint in enumerate(cell for bucket in layer.buckets for cell in bucket):
            words.set_cell(start, index, table.cell_bits, fingerprint)
    return words


# Static kinds

FUSE_SIZES = {  # f and a for 2^i keys
    3: ((60000, 1), (50000, 1), (36000, 1), (27000, 1), (21000, 1), (18000, 1), (16000, 1), (14800, 1), (14000, 1),
        (13400, 1), (13000, 1), (12700, 1), (12550, 1), (12480, 1), (12400, 32), (12000, 40), (11800, 50), (11650, 80),
        (11520, 100), (11380, 120), (11275, 150), (11200, 180)),
    4: ((60000, 1), (40000, 1), (28000, 1), (21000, 1), (18000, 1), (16200, 1), (15000, 1), (14500, 1), (14100, 1),
        (13800, 1), (13500, 20), (13100, 25), (12650, 32), (12200, 40), (11850, 50), (11550, 80), (11280, 100),
        (11100, 120), (10950, 140), (10810, 160), (10720, 180), (10680, 200))}


def static_words(bloom, hashes, write_shard):
    """write_shard(words, number of the shard, its hashes) appends the arrays and returns the entry
    but for word 0.
    """
    shards = min(max(bloom.fields["planned keys"] >> 20, 1), 2**24)
    parts = [[] for _ in range(shards)]
    for h in dict.fromkeys(hashes):
        parts[high64(h, shards)].append(h)
    words, entries = Words(0), []
    for number, part in enumerate(parts):
        first = len(words.data) // 8
        entries += [first, *write_shard(words, number, part)]
    for value in entries + [shards, len(set(hashes))] + [0] * 6:
        words.append(1)
        words.set_word(len(words.data) // 8 - 1, value)
    return words


def peeled(filled, number, part):
    """Seed, segments and cells of a segment, and the keys as (mixed hash, its cells, which is its
    own) as taken.
    """
    k = filled.probes
    if not part:
        return splitmix64(64 * number), 0, 0, []
    i = len(part).bit_length() - 1
    rows = FUSE_SIZES[k]
    (f, starts), (next_f, _) = rows[min(i, 21)], rows[min(i + 1, 21)]
    f -= (len(part) - 2**i) * (f - next_f) >> i
    segment = ceil_div(len(part) * f, 10000 * (starts + k - 1))
    for attempt in range(64):
        seed = splitmix64(64 * number + attempt)
        taken = peel(filled, [mix(h, seed) for h in part], starts, segment)
        if len(taken) == len(part):
            return seed, starts, segment, taken
    raise AssertionError("no seed")


def peel(filled, mixed, starts, segment):
    cells_of = {x: list(filled.places((0, 0, starts, segment), x)) for x in mixed}
    count = (starts + filled.probes - 1) * segment
    keys = [set() for _ in range(count)]
    for x, cells in cells_of.items():
        for cell in cells:
            keys[cell].add(x)
    if max(map(len, keys)) > 63:
        return []
    taken = []
    for piece in range(0, count, 8192):
        stack = [cell for cell in range(piece, min(piece + 8192, count)) if len(keys[cell]) == 1]
        while stack:
            own = stack.pop()
            if len(keys[own]) != 1:
                continue
            x = min(keys[own])
            taken.append((x, cells_of[x], own))
            for cell in cells_of[x]:
                keys[cell].remove(x)
                if len(keys[cell]) == 1:
                    stack.append(cell)
    return taken


def fill(words, start, width, filled, taken, is_tag):
    """Sets the own cells, the last taken first, so that the cells of each key XOR to what it must
    find.
    """
    table = {}
    for x, cells, own in reversed(taken):
        value = filled.fingerprint(x, width) ^ (cells.index(own) if is_tag else 0)
        for cell in cells:
            if cell != own:
                value ^= table.get(cell, 0)
        table[own] = value
    for cell, value in table.items():
        words.set_cell(start, cell, width, value)


def fuse(bloom, hashes):
    filled = bloom.payload

    def write_shard(words, number, part):
        seed, starts, segment, taken = peeled(filled, number, part)
        start = 8 * len(words.data)
        words.append(filled.shard_words((0, 0, starts, segment)))
        fill(words, start, filled.cell_bits, filled, taken, False)
        return seed, starts, segment

    return static_words(bloom, hashes, write_shard)


def bloomier(bloom, hashes, values):
    filled = bloom.payload
    value_of = dict(zip(hashes, values))

    def write_shard(words, number, part):
        seed, starts, segment, taken = peeled(filled, number, part)
        entry = (0, 0, starts, segment)
        start = 8 * len(words.data)
        words.append(filled.shard_words(entry))
        fill(words, start, filled.tag_bits, filled, taken, True)
        start += 64 * filled.table_words(entry, filled.tag_bits)
        by_mixed = {mix(h, seed): value_of[h] for h in part}
        for x, _, own in taken:
            words.set_cell(start, own, filled.variant, by_mixed[x])
        return seed, starts, segment

    return static_words(bloom, hashes, write_shard)


class Band:
    """Equations in echelon form, by their leading slot: coefficients from there on, and the right
    side.
    """

    def __init__(self):
        self.rows = {}

    def add(self, equations):
        """Whether all of (start, coefficients, right side) fit; none is added otherwise."""
        new = []
        for lead, coefficients, side in equations:
            while coefficients:
                shift = (coefficients & -coefficients).bit_length() - 1
                lead, coefficients = lead + shift, coefficients >> shift
                if lead not in self.rows:
                    self.rows[lead] = (coefficients, side)
                    new.append(lead)
                    break
                coefficients ^= self.rows[lead][0]
                side ^= self.rows[lead][1]
            else:
                if side:
                    for lead in new:
                        del self.rows[lead]
                    return False
        return True

    def solution(self, slots):
        values = [0] * slots
        for lead in sorted(self.rows, reverse=True):
            coefficients, value = self.rows[lead]
            for i in range(1, coefficients.bit_length()):
                if coefficients >> i & 1:
                    value ^= values[lead + i]
            values[lead] = value
        return values


def ribbon_sizes(keys):
    sizes, left, margin = [0, 0, 0, 0], keys, 128
    if keys == 0:
        return sizes
    for layer in range(3):
        if left >= 6144:
            sizes[layer] = 25 * left // 26 // 64 * 64
            left, margin = left - sizes[layer] + 50 + sizes[layer] // 6000, 256
    sizes[3] = ceil_div(left + left // 32 + margin, 64) * 64
    return sizes


def ribbon(bloom, hashes):
    filled = bloom.payload
    r = filled.cell_bits

    def equation(x, slots):
        coefficients = fold(x, 0xA0761D6478BD642F) | 1 | fold(x, 0xE7037ED1A0B428DB) << 64
        return high64(x, slots - 128), coefficients, filled.fingerprint(x, r)

    def bumping(mixed, slots):
        """The slots, the thresholds and the keys that are bumped."""
        buckets = [([], [], []) for _ in range(ceil_div(slots - 128, 512))]
        for x in mixed:
            bucket, within = divmod(high64(x, slots - 128), 512)
            buckets[bucket][0 if within >= 110 else 1 if within >= 50 else 2].append(x)
        band, thresholds, bumped = Band(), [], []
        for groups in buckets:
            fitting = 0
            while fitting < 3 and band.add([equation(x, slots) for x in groups[fitting]]):
                fitting += 1
            thresholds.append(3 - fitting)
            bumped += [x for group in groups[fitting:] for x in group]
        return band.solution(slots), thresholds, bumped

    def solve(mixed, sizes):
        solved = []
        for slots in sizes[:3]:
            if slots:
                values, thresholds, bumped = bumping(mixed, slots)
                solved.append((values, thresholds))
                mixed = [mix(x, 0x589965CC75374CC3) for x in bumped]
        band = Band()
        if not band.add([equation(x, sizes[3]) for x in mixed] if sizes[3] else []):
            return None
        return solved + [(band.solution(sizes[3]), [])]

    def write_shard(words, number, part):
        sizes = ribbon_sizes(len(part))
        columns = sum(sizes) // 64 * r
        seeds = (splitmix64(64 * number + attempt) for attempt in range(64))
        seed, solved = next((s, found) for s in seeds if (found := solve([mix(h, s) for h in part], sizes)))
        entry = [0, seed, *sizes, columns, 0]
        start, at = 8 * len(words.data), 0
        words.append(filled.shard_words(entry))
        for values, _ in solved:
            for i, value in enumerate(values):
                for j in range(r):
                    words.set_cell(start + 64 * (at + i // 64 * r + j), i % 64, 1, value >> j & 1)
            at += len(values) // 64 * r
        for values, thresholds in solved[:-1]:
            for bucket, threshold in enumerate(thresholds):
                words.set_cell(start + 64 * at, bucket, 2, threshold)
            at += filled.threshold_words(len(values))
        return entry[1:]

    return static_words(bloom, hashes, write_shard)


# Sketches

def count_min(bloom, hashes):
    words = Words(bloom.payload.words)
    filled = opened(bloom, words)
    most = 2**filled.cell_bits - 1
    for h in hashes:
        least = filled.count(h)
        for counter in filled.rows(h, filled.width):
            value = filled.cell(512, counter, filled.cell_bits)
            risen = max(value, min(least + 1, most)) if filled.variant & 1 else min(value + 1, most)
            words.set_cell(512, counter, filled.cell_bits, risen)
        words.set_word(0, filled.word(0) + 1)
    return words


def spectral(bloom, hashes):
    words = Words(bloom.payload.words)
    filled = opened(bloom, words)
    width, most = filled.cell_bits, 2**filled.cell_bits - 1

    def put(counters):
        for counter, value in counters.items():
            words.set_cell(0, counter, width, min(value, most))

    for h in hashes:
        primary = filled.in_primary(h)
        least = min(primary.values())
        if filled.variant == 1:
            put({i: max(v, least + 1) for i, v in primary.items()})
            continue
        put({i: v + 1 for i, v in primary.items()})
        if filled.variant == 0:
            continue
        now = list(filled.in_primary(h).values())
        second = low64(h, pow(PROBE_MULTIPLIER, filled.probes, 2**64))
        secondary = {filled.primary + i: filled.cell(0, filled.primary + i, width)
                     for i in kinds.classic_positions(second, filled.probes, filled.secondary)}
        if min(secondary.values()) > 0:
            put({i: v + 1 for i, v in secondary.items()})
        elif now.count(min(now)) == 1:
            put({i: v + min(now) for i, v in secondary.items()})
    return words


def top_k(bloom, hashes, keys):
    filled = bloom.payload
    k, ratio = filled.variant, filled.word(2)
    thresholds = [MASK64]
    while (following := thresholds[-1] * ratio >> 32) != 0:
        thresholds.append(following)
    # In `listed`, by hash: minus the count, the key.
    state, buckets, listed = 0, [(0, 0)] * (filled.probes * filled.width), {}

    for h, key in zip(hashes, keys):
        f = h & MASK32
        if h not in listed and len(listed) < k:
            listed[h] = (0, key)
        least = -max(listed.values())[0]
        estimate = 0
        for i in filled.rows(h, filled.width):
            g, v = buckets[i]
            if v == 0:
                buckets[i] = (f, 1)
            elif g != f:
                if v < len(thresholds):
                    draw, state = splitmix64(state), state + 0x9E3779B97F4A7C15 & MASK64
                    if draw < thresholds[v]:
                        buckets[i] = (g, v - 1) if v > 1 else (f, 1)
            elif h in listed or v <= least:
                buckets[i] = (f, min(v + 1, MASK32))
            else:
                continue
            if buckets[i][0] == f:
                estimate = max(estimate, buckets[i][1])
        if h in listed:
            listed[h] = (listed[h][0] - 1, key)
        elif estimate > least:
            del listed[max(listed, key=lambda other: (*listed[other], other))]
            listed[h] = (-estimate, key)

    entries = sorted((*entry, h) for h, entry in listed.items())
    text = b"".join(key for _, key, _ in entries)
    words = Words(8)
    for index, value in enumerate((filled.width, state, ratio, len(hashes), len(entries), len(text))):
        words.set_word(index, value)
    for g, v in buckets:
        words.data += (v << 32 | g).to_bytes(8, "little")
    for count, key, h in entries:
        for value in (h, -count, len(key)):
            words.data += value.to_bytes(8, "little")
    words.data += text + bytes(-len(text) % 8)
    return words


WRITERS = {
    "counting": counting, "scalable": scalable, "layered": layered, "windowed": windowed, "cuckoo": cuckoo, "fuse": fuse, "ribbon": ribbon,
    "bloomier": bloomier, "count-min": count_min, "spectral": spectral, "top-k": top_k}


def words_again(bloom, keys, values=None, removed=()):
    """The bytes of the payload that the keys make."""
    hashes = [bloom.hash_of(key) for key in keys]
    more = ()
    if bloom.kind == "bloomier":
        more = (values,)
    elif bloom.kind == "top-k":
        more = (keys,)
    elif removed:
        more = ([bloom.hash_of(key) for key in removed],)
    return bytes(WRITERS[bloom.kind](bloom, hashes, *more).data)
