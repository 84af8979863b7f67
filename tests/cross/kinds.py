"""What the payload of each kind says and must obey, from docs/format.md alone. reader.py has the
file around it.

A payload is made from the fields of the header and a function that gives bytes of it. It refuses
what the page refuses, with the name of what is wrong, and then answers for hashes:

    contains(h)    every kind
    count(h)       kinds that count
    value(h)       a map: None for a key that it does not have
    top()          the listed keys with their counts, the largest first
"""

MASK32 = 2**32 - 1
MASK64 = 2**64 - 1

PROBE_MULTIPLIER = 0xD1342543DE82EF95
BLOCK_PATTERNS = (
    0x0001, 0x0003, 0x000B, 0x0053, 0x0153, 0x02B3, 0x053B, 0x0A6F,
    0x0B77, 0x177B, 0x1DBF, 0x2EFF, 0x5DFF, 0x3FFF, 0x7FFF, 0xFFFF)
LANE_MULTIPLIERS = (
    0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31,
    0xD1B54A33, 0x6C8E944D, 0xB5297A4D, 0x1B56C4E9, 0xE7037ED1, 0x3C6EF373, 0xF39CC061, 0x82A2B175)


class FormatError(Exception):
    """The file is not a version 1 filter; the text starts with the field at fault."""


def require(condition, field, text):
    if not condition:
        raise FormatError(f"{field}: {text}")


def ceil_div(a, b):
    return -(-a // b)


# Arithmetic

def high64(a, b):
    return a * b >> 64


def low64(a, b):
    return a * b & MASK64


def splitmix64(x):
    z = (x + 0x9E3779B97F4A7C15) & MASK64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
    return z ^ z >> 31


def pairwise(seed, j, x):
    """Function j of the family that the seed chooses."""
    a_high, a_low, b_high, b_low = (splitmix64(splitmix64(seed) ^ splitmix64(4 * j + i)) for i in range(4))
    return ((a_high << 64 | a_low) * x + (b_high << 64 | b_low)) % 2**128 >> 64


def fold(a, b):
    return low64(a, b) ^ high64(a, b)


def mix(x, s):
    return low64(fold(x ^ s, 0x9FB21C651E98DF25), 0xD6E8FEB86659FD93)


# Positions: h is the 64-bit hash, k the number of probes, m the number of bits

def classic_positions(h, k, m):
    for _ in range(k):
        yield high64(h, m)
        h = low64(h, PROBE_MULTIPLIER)


def partitioned_positions(h, k, m):
    slice_bits = m // k
    for j, position in enumerate(classic_positions(h, k, slice_bits)):
        yield j * slice_bits + position


def lanes_of(h, k):
    """The lanes that a key uses, and what its 32 bits are there times the multiplier."""
    x = h & MASK32
    rotation = x >> 16 & 15
    for lane, multiplier in enumerate(LANE_MULTIPLIERS):
        if BLOCK_PATTERNS[k - 1] >> (lane + rotation) % 16 & 1:
            yield lane, x * multiplier & MASK32


def blocked_positions(h, k, m):
    block = high64(h, m // 512)
    for lane, product in lanes_of(h, k):
        yield 512 * block + 32 * lane + (product >> 27)


def split_block_positions(h, k, m):
    block = high64(h, m // 256)
    x = h & MASK32
    for lane, multiplier in enumerate(LANE_MULTIPLIERS[:k]):
        yield 256 * block + 32 * lane + ((x * multiplier & MASK32) >> 27)


# Scalable: cells in a line of each width, and the keys of a line at which the lines double.
LINE_CELLS = {12: 40, 16: 32, 21: 24, 32: 16}
LINE_KEYS = {12: 32, 16: 26, 21: 19, 32: 12}


def line_place(h, lines, width):
    """The line of a key in a filter of so many, and the bits that its fingerprint is taken from."""
    return high64(h, lines), low64(h, lines) >> 64 - width


def fits(cell, q):
    return cell != 0 and (cell ^ q) & ~(cell ^ cell - 1) == 0


def stash_slots(x, slots):
    """The slots in which x may be, in the order in which they are tried; their number is 0 or a
    power of two.
    """
    own = low64(x, 0x9E3779B97F4A7C15) >> 64 - (slots.bit_length() - 1)
    return ((own + i) % slots for i in range(min(slots, 256)))


POSITIONS = {"classic": classic_positions, "partitioned": partitioned_positions, "blocked": blocked_positions,
             "split-block": split_block_positions}


# Payloads

class Payload:
    def __init__(self, fields, read):
        """read(first, count) gives bytes of the payload."""
        self._read = read
        self.bits = fields["bits"]
        self.words = self.bits // 64
        self.probes = fields["probes"]
        self.cell_bits = fields["cell bits"]
        self.block_bits = fields["block bits"]
        self.variant = fields["variant"]
        self.keys = fields["keys"]
        self.check()

    def check(self):
        """Refuses what the page refuses. Every content of the payload is valid where a kind has no
        check.
        """

    def word(self, index):
        return int.from_bytes(self._read(8 * index, 8), "little")

    def cell(self, start, index, width):
        """Cell number index of an array that starts at position start."""
        position = start + index * width
        first, end = position // 8, ceil_div(position + width, 8)
        return int.from_bytes(self._read(first, end - first), "little") >> position % 8 & (1 << width) - 1

    def bit(self, position):
        return self._read(position // 8, 1)[0] >> position % 8 & 1

    def require_zeros(self, name, first, end):
        require(not any(self._read(8 * first, 8 * (end - first))), name, f"words {first} to {end - 1} are not zeros")

    def rows(self, h, width):
        """The cells of a hash in rows of so many: one in each."""
        return partitioned_positions(h, self.probes, self.probes * width)


class Bits(Payload):
    def __init__(self, fields, read):
        super().__init__(fields, read)
        self._positions = POSITIONS[fields["kind"]]

    def contains(self, h):
        return all(map(self.bit, self._positions(h, self.probes, self.bits)))


class Counting(Payload):
    def counters(self, h):
        if self.block_bits:
            positions = blocked_positions(h, self.probes, self.bits)
            return {position // self.cell_bits for position in positions}
        return set(classic_positions(h, self.probes, self.bits // self.cell_bits))

    def count(self, h):
        return min(self.cell(0, counter, self.cell_bits) for counter in self.counters(h))

    def contains(self, h):
        return self.count(h) > 0


class Layered(Payload):
    def check(self):
        layers = self.word(0)
        require(1 <= layers <= 32, "layers", f"{layers} is not in 1 to 32")
        start = 8 * ceil_div(8 + 4 * layers, 8)
        require(start <= self.words, "layers", "the directory is cut off")
        self.require_zeros("directory", 1, 8)
        self.require_zeros("directory", 8 + 4 * layers, start)
        self.layers = []
        for entry in range(8, 8 + 4 * layers, 4):
            blocks, capacity, _, reserved = (self.word(entry + i) for i in range(4))
            require(blocks >= 1 and start + 8 * blocks <= self.words, "blocks", "a layer does not fit into the payload")
            require(capacity >= 1, "capacity", "a layer has none")
            require(reserved == 0, "directory", f"word {entry + 3} is not 0")
            self.layers.append((start, blocks))
            start += 8 * blocks
        require(start == self.words, "blocks", "the layers do not fill the payload")

    def contains(self, h):
        return any(all(self.bit(64 * start + p) for p in blocked_positions(h, self.probes, 512 * blocks))
                   for start, blocks in self.layers)


class Scalable(Payload):
    def check(self):
        require(self.words > 8, "lines", "the payload has none")
        self.lines, _, self.doublings, self.slots = (self.word(i) for i in range(4))
        require(self.doublings <= 63, "doublings", f"{self.doublings} is not in 0 to 63")
        self.require_zeros("head", 4, 8)
        self.stash = 8 + 8 * self.lines
        require(self.lines >= 1 and self.stash <= self.words, "lines", f"{self.lines} do not fit into the payload")
        require(self.slots == 0 or self.slots >= 16 and self.slots.bit_count() == 1, "stash",
                f"{self.slots} slots are not 0 or a power of two from 16 on")
        require(self.stash + self.slots == self.words, "stash", "lines and stash do not fill the payload")

    def cells_of(self, line):
        """Those of each word stand at its low end; what is left over is not used."""
        in_word = 64 // self.cell_bits
        for word in range(8 + 8 * line, 16 + 8 * line):
            for i in range(in_word):
                yield self.cell(64 * word, i, self.cell_bits)

    def contains(self, h):
        line, q = line_place(h, self.lines, self.cell_bits)
        cells = list(self.cells_of(line))
        return any(fits(cell, q) for cell in cells) or cells[-1] != 0 and self.in_stash(h or 1)

    def in_stash(self, x):
        found = (self.word(self.stash + slot) for slot in stash_slots(x, self.slots))
        return next((word for word in found if word in (0, x)), 0) == x



class Windowed(Payload):
    def check(self):
        slots = self.variant + 1
        require(self.cell_bits <= slots, "cell bits", f"{self.cell_bits} of {slots} slots in a line")
        self.head = 8 * (1 + ceil_div(slots, 2))
        self.lines = ceil_div(slots, self.cell_bits)
        self.positions = 32 // self.cell_bits
        self.blocks, rest = divmod(self.words - self.head, 8 * self.lines)
        require(self.blocks >= 1 and rest == 0, "bits", f"{self.bits} is not a whole number of blocks")
        self.window, self.by_time, self.now, self.quota, self.current, self.begun, self.gap = map(self.word, range(7))
        require(self.window >= self.variant, "window", f"{self.window} is less than {self.variant} generations")
        require(self.by_time <= 1, "clock", f"{self.by_time} is not 0 or 1")
        require(self.by_time == 1 or self.now == 0, "clock", f"{self.now} is a time, and there is none")
        require(self.quota >= 1, "quota", "a generation has room for no key")
        require(self.current < slots, "current slot", f"{self.current} is not one of {slots}")
        require(self.begun <= self.now, "clock", f"the current generation begins at {self.begun}")
        require(self.gap <= self.now + 1, "clock", f"keys up to {self.gap} are forgotten")
        self.require_zeros("clock", 7, 8)
        for slot in range(slots):
            keys, stored, last, rest = (self.word(8 + 4 * slot + i) for i in range(4))
            require(stored <= keys, "stored keys", f"{stored} is more than {keys}")
            require(last <= self.now, "clock", f"the last key came at {last}")
            require(rest == 0, "clock", "reserved words are not 0")
        self.require_zeros("clock", 8 + 4 * slots, self.head)

    def share(self, whole):
        return ceil_div(whole, self.variant)

    def alive(self, now=None):
        """The slots that are asked; as of a later time in a filter whose clock is one."""
        now = self.now if now is None or not self.by_time else max(now, self.now)
        return [s for s in range(self.variant + 1) if self.word(8 + 4 * s) and now - self.word(10 + 4 * s) <= self.window]

    def remembered(self, now=None):
        return sum(self.word(8 + 4 * slot) for slot in self.alive(now))

    def bits_of(self, h, slot):
        """Where the bits of a key are in a slot."""
        line, plane = divmod(slot, self.cell_bits)
        block = high64(h, self.blocks)
        start = 64 * self.head + 512 * (self.lines * block + line) + plane * self.positions
        for lane, product in lanes_of(h, self.probes):
            yield start + 32 * lane + ((product >> 16) * self.positions >> 16)

    def contains(self, h, now=None):
        return any(all(map(self.bit, self.bits_of(h, slot))) for slot in self.alive(now))


class Cuckoo(Payload):
    def check(self):
        self.bucket = self.block_bits // self.cell_bits
        require(self.words >= 16, "layers", "the preamble is cut off")
        layers, most, expansion = (self.word(i) for i in range(3))
        require(1 <= layers <= 32, "layers", f"{layers} is not in 1 to 32")
        require(1 <= most <= 32, "greatest number of layers", f"{most} is not in 1 to 32")
        require(expansion in (2**i for i in range(16)), "expansion", f"{expansion} is not a power of two up to 32768")
        start = 8 + 8 * ceil_div(layers, 4)
        require(start <= self.words, "layers", "the directory is cut off")
        self.require_zeros("preamble", 3, 8)
        self.require_zeros("preamble", 8 + 2 * layers, start)
        self.base = self.word(8)
        require(self.base >= 1, "buckets", "the first layer has none")
        self.layers = []
        for entry in range(8, 8 + 2 * layers, 2):
            buckets, used = self.word(entry), self.word(entry + 1)
            scale = (buckets // self.base).bit_length() - 1
            require(0 <= scale <= 31 and buckets == self.base << scale, "buckets",
                    f"{buckets} is not {self.base} times a power of two")
            require(buckets * self.block_bits <= 2**48, "buckets", f"{buckets} are too many")
            require(used <= buckets * self.bucket, "used cells", f"{used} is more than there are")
            self.layers.append((64 * start, scale))
            start += self.layer_words(buckets)
            require(start <= self.words, "buckets", "a layer does not fit into the payload")
        require(start == self.words, "buckets", "the layers do not fill the payload")
        for number, (start, scale) in enumerate(self.layers):
            used = self.word(9 + 2 * number)
            cells = sum(self.cell(start, i, self.cell_bits) != 0 for i in range((self.base << scale) * self.bucket))
            require(used == cells, "used cells", f"it says {used}, and {cells} are")

    def layer_words(self, buckets):
        return 8 * ceil_div((buckets - 1) * self.block_bits + max(self.block_bits, 64), 512)

    def fingerprint(self, h):
        return max(1, h % (1 << self.cell_bits))

    def partner(self, i, fingerprint, scale):
        y = low64(fingerprint, 0x9FB21C651E98DF25)
        y = y ^ low64(y, 1 << 32)
        u, v = i >> scale, i & (1 << scale) - 1
        return ((high64(y, self.base) - u) % self.base << scale) + (v ^ (y & MASK32) >> 32 - scale)

    def count(self, h):
        fingerprint = self.fingerprint(h)
        found = 0
        for start, scale in self.layers:
            first = high64(h, self.base << scale)
            for bucket in {first, self.partner(first, fingerprint, scale)}:
                found += sum(self.cell(start, bucket * self.bucket + s, self.cell_bits) == fingerprint
                             for s in range(self.bucket))
        return found

    def contains(self, h):
        return self.count(h) > 0


class Static(Payload):
    """What fuse, ribbon and bloomier share."""

    def check(self):
        footer = self.words - 8
        require(footer >= self.ENTRY_WORDS, "shards", "there is no room for a directory")
        shards, different = self.word(footer), self.word(footer + 1)
        require(1 <= shards <= 2**24 and shards * self.ENTRY_WORDS <= footer, "shards", f"{shards} cannot be")
        require(different <= self.keys, "different keys", f"{different} is more than the {self.keys} of the header")
        self.require_zeros("footer", footer + 2, footer + 8)
        directory = footer - shards * self.ENTRY_WORDS
        end = 0
        self.shards = []
        for at in range(directory, footer, self.ENTRY_WORDS):
            entry = [self.word(at + i) for i in range(self.ENTRY_WORDS)]
            require(entry[0] == end, "first word", f"is {entry[0]}, must be {end}")
            end += self.shard_words(entry)
            require(end <= directory, "shards", "one is longer than the payload")
            self.shards.append(entry)
        require(end == directory, "shards", "they end before the directory")

    def shard(self, h):
        """The entry of the shard and the mixed hash."""
        entry = self.shards[high64(h, len(self.shards))]
        return entry, mix(h, entry[1])

    @staticmethod
    def fingerprint(x, bits):
        return low64(x, 0x9E6C63D0876A9A47) >> 64 - bits


class Fuse(Static):
    ENTRY_WORDS = 4

    def cells(self, entry):
        _, _, starts, segment = entry
        require(starts < 2**31, "segments", f"{starts} are too many")
        require(segment < 2**31, "cells of a segment", f"{segment} are too many")
        require((starts == 0) == (segment == 0), "cells of a segment", "must be 0 exactly when there are no segments")
        cells = (starts + self.probes - 1) * segment
        require(cells <= 2**48, "segments", f"{cells} cells are too many")
        return cells

    def shard_words(self, entry):
        return 8 * ceil_div(self.cells(entry) * self.cell_bits, 512)

    def places(self, entry, x):
        _, _, starts, segment = entry
        first, rest = high64(x, starts), low64(x, starts)
        for j in range(self.probes):
            yield (first + j) * segment + high64(rest, segment)
            rest = low64(rest, segment)

    def contains(self, h):
        entry, x = self.shard(h)
        if entry[2] == 0:
            return False
        found = 0
        for place in self.places(entry, x):
            found ^= self.cell(64 * entry[0], place, self.cell_bits)
        return found == self.fingerprint(x, self.cell_bits)


class Bloomier(Fuse):
    def table_words(self, entry, width):
        return 8 * ceil_div(self.cells(entry) * width, 512)

    def shard_words(self, entry):
        return self.table_words(entry, self.tag_bits) + self.table_words(entry, self.variant)

    @property
    def tag_bits(self):
        return self.cell_bits - self.variant + 2

    def value(self, h):
        entry, x = self.shard(h)
        if entry[2] == 0:
            return None
        places = list(self.places(entry, x))
        own = self.fingerprint(x, self.tag_bits)
        for place in places:
            own ^= self.cell(64 * entry[0], place, self.tag_bits)
        if own >= self.probes:
            return None
        values = 64 * (entry[0] + self.table_words(entry, self.tag_bits))
        return self.cell(values, places[own], self.variant)

    def contains(self, h):
        return self.value(h) is not None


class Ribbon(Static):
    ENTRY_WORDS = 8
    THRESHOLDS = (0, 50, 110, 512)

    @staticmethod
    def threshold_words(slots):
        return ceil_div(slots - 128, 16384) if slots else 0

    def shard_words(self, entry):
        for slots in entry[2:6]:
            require(slots == 0 or slots % 64 == 0 and 192 <= slots < 2**32, "slots", f"a layer cannot have {slots}")
        columns = sum(entry[2:6]) // 64 * self.cell_bits
        require(entry[6] == columns, "words of columns", f"is {entry[6]}, must be {columns}")
        require(entry[7] == 0, "directory", "word 7 of an entry is not 0")
        return 8 * ceil_div(columns + sum(map(self.threshold_words, entry[2:5])), 8)

    def contains(self, h):
        entry, x = self.shard(h)
        columns = entry[0]
        thresholds = entry[0] + entry[6]
        for layer, slots in enumerate(entry[2:6]):
            if slots == 0:
                continue
            start = high64(x, slots - 128)
            bucket, within = divmod(start, 512)
            if layer == 3 or within >= self.THRESHOLDS[self.cell(64 * thresholds, bucket, 2)]:
                return self.holds(columns, start, x)
            x = mix(x, 0x589965CC75374CC3)
            columns += slots // 64 * self.cell_bits
            thresholds += self.threshold_words(slots)
        return False

    def holds(self, columns, start, x):
        coefficients = fold(x, 0xA0761D6478BD642F) | 1 | fold(x, 0xE7037ED1A0B428DB) << 64
        wanted = self.fingerprint(x, self.cell_bits)
        for j in range(self.cell_bits):
            first = start // 64
            column = 0
            for i in range(3):  # 128 slots touch three groups of 64, the last perhaps with none
                if i * 64 < start % 64 + 128:
                    column |= self.word(columns + (first + i) * self.cell_bits + j) << 64 * i
            if (column >> start % 64 & coefficients).bit_count() & 1 != wanted >> j & 1:
                return False
        return True


class CountMin(Payload):
    def check(self):
        if self.variant & 4:
            self.in_line = 512 // self.cell_bits
            require(self.probes <= min(16, self.in_line // 2), "probes", f"{self.probes} rows have no room in a line")
            require(self.bits % 512 == 0 and self.bits >= 1024, "bits", f"{self.bits} are no preamble and lines")
            lane = max(32, self.cell_bits)
            self.lines, self.row = self.bits // 512 - 1, 512 // lane // self.probes * (lane // self.cell_bits)
            self.width = self.lines * self.row
            self.require_zeros("preamble", 1, 8)
            return
        self.width = max(0, self.bits - 512) // self.cell_bits // self.probes
        require(self.width >= 1, "bits", f"{self.bits} are too few for a counter in each row")
        self.require_zeros("preamble", 2 if self.variant & 2 else 1, 8)
        end = 512 + self.probes * self.width * self.cell_bits
        rest = ceil_div(end, 64)
        require(end % 64 == 0 or self.word(rest - 1) >> end % 64 == 0, "rest", "is not zeros")
        self.require_zeros("rest", rest, self.words)

    def total(self):
        return self.word(0)

    def rows(self, h, width):
        if self.variant & 4:
            first = high64(h, self.lines) * self.in_line
            mixed = ((h & MASK32) * multiplier & MASK32 for multiplier in LANE_MULTIPLIERS)
            return [first + j * self.row + ((x >> 8) * self.row >> 24) for j, x in zip(range(self.probes), mixed)]
        if not self.variant & 2:
            return super().rows(h, width)
        return [j * width + high64(pairwise(self.word(1), j, h), width) for j in range(self.probes)]

    def count(self, h):
        return min(self.cell(512, counter, self.cell_bits) for counter in self.rows(h, self.width))

    def contains(self, h):
        return self.count(h) > 0


class Spectral(Payload):
    def check(self):
        counters = self.bits // self.cell_bits
        self.secondary = counters // 3 if self.variant == 2 else 0
        require(self.variant != 2 or self.secondary >= 1, "bits", f"{self.bits} are too few for a secondary counter")
        self.primary = counters - self.secondary

    def in_primary(self, h):
        """The counters of a hash, by number."""
        return {i: self.cell(0, i, self.cell_bits) for i in classic_positions(h, self.probes, self.primary)}

    def least_in_secondary(self, h):
        h = low64(h, pow(PROBE_MULTIPLIER, self.probes, 2**64))
        return min(self.cell(0, self.primary + i, self.cell_bits)
                   for i in classic_positions(h, self.probes, self.secondary))

    def count(self, h):
        values = list(self.in_primary(h).values())
        least = min(values)
        if self.variant != 2 or values.count(least) > 1:
            return least
        second = self.least_in_secondary(h)
        return min(least, second) if second else least

    def contains(self, h):
        return min(self.in_primary(h).values()) > 0


class TopK(Payload):
    LONGEST_KEY = 65536

    def check(self):
        require(self.words > 8, "preamble", "is cut off")
        self.width, _, decay, self.total, listed, key_bytes = (self.word(i) for i in range(6))
        buckets_end = 8 + self.probes * self.width
        require(1 <= self.width and buckets_end <= self.words, "width", f"{self.width} buckets a row do not fit")
        require(1 <= decay <= 4252017623, "decay", f"{decay} is not in 1 to 4252017623")
        self.require_zeros("preamble", 6, 8)
        require(listed <= self.variant, "listed keys", f"{listed} are more than k")
        keys_at = buckets_end + 3 * listed
        require(keys_at + ceil_div(key_bytes, 8) == self.words, "bytes of keys", "the parts do not fill the payload")
        self.listed = []
        at = 8 * keys_at
        for entry in range(buckets_end, keys_at, 3):
            h, count, length = (self.word(entry + i) for i in range(3))
            require(count >= 1, "count", "a listed one is 0")
            require(length <= min(self.LONGEST_KEY, 8 * keys_at + key_bytes - at), "length", f"{length} cannot be")
            self.listed.append((-count, bytes(self._read(at, length)), h))
            at += length
        require(at == 8 * keys_at + key_bytes, "bytes of keys", "are more than those of the listed keys")
        require(not any(self._read(at, 8 * self.words - at)), "padding", "is not zeros")
        require(self.listed == sorted(self.listed), "list", "is out of order")
        self.counts = {h: -count for count, _, h in self.listed}
        require(len(self.counts) == listed, "list", "has a hash twice")

    def top(self):
        return [(key, -count) for count, key, _ in self.listed]

    def contains(self, h):
        return h in self.counts

    def count(self, h):
        if h in self.counts:
            return self.counts[h]
        most = -self.listed[-1][0] if len(self.listed) == self.variant else MASK64
        buckets = (divmod(self.word(8 + i), 2**32) for i in self.rows(h, self.width))
        return max((v for v, f in buckets if f == h & MASK32 and v <= most), default=0)


PAYLOADS = {
    "classic": Bits, "partitioned": Bits, "blocked": Bits, "split-block": Bits, "counting": Counting,
    "scalable": Scalable, "layered": Layered,
    "windowed": Windowed, "cuckoo": Cuckoo, "fuse": Fuse, "ribbon": Ribbon, "bloomier": Bloomier,
    "count-min": CountMin, "spectral": Spectral, "top-k": TopK}
