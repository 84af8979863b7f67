"""Filters of every kind with altered bytes, for the tests of the SQL extensions. Half of them have
right checksums, so that what lies behind the checksums is reached, too.
"""
import random
import struct

import xxhash

CHUNK = 1 << 20


def sealed(image):
    """The image with the checksums of its content, where its fields allow that."""
    image = bytearray(image)
    payload = struct.unpack_from("<Q", image, 88)[0]
    chunks = -(-payload // CHUNK)
    if 256 + payload + 8 * chunks != len(image):
        payload, chunks = len(image) - 264, 1
    if payload < 0:
        return bytes(image)
    for i in range(chunks):
        start = 256 + i * CHUNK
        part = image[start:min(start + CHUNK, 256 + payload)]
        struct.pack_into("<Q", image, 256 + payload + 8 * i, xxhash.xxh3_64_intdigest(bytes(part)))
    struct.pack_into("<Q", image, 112, xxhash.xxh3_64_intdigest(bytes(image[256 + payload:])))
    struct.pack_into("<Q", image, 248, xxhash.xxh3_64_intdigest(bytes(image[:248])))
    return bytes(image)


def mutated(images, count, seed=25):
    """`count` altered copies of the images."""
    chance = random.Random(seed)
    for _ in range(count):
        image = bytearray(chance.choice(images))
        for _ in range(chance.choice((1, 1, 2, 4))):
            # Most of them in the header, and there where the fields are.
            at = chance.randrange(8, 132) if chance.random() < 0.6 else chance.randrange(len(image))
            width = min(chance.choice((1, 1, 2, 8)), len(image) - at)
            image[at:at + width] = chance.choice((chance.randbytes(width), bytes(width), b"\xff" * width))
        if chance.random() < 0.1:
            image = image[:chance.randrange(len(image))]
        yield sealed(image) if chance.random() < 0.5 and len(image) >= 264 else bytes(image)
