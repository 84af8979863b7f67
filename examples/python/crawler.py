#!/usr/bin/python3
"""A crawler's set of pages that it has seen: grows with them, and survives a restart.

The pages are made up, so that this runs anywhere: page n links to 2n, 3n and n - 1.
"""

import os
import tempfile

from bloomery import Scalable


def links_of(url):
    number = int(url.rsplit("/", 1)[1])
    return [f"https://example.org/{n % 100_000}" for n in (2 * number, 3 * number, number - 1)]


def crawl(seen, front, pages):
    while front and pages:
        url = front.pop()
        pages -= 1
        for link in links_of(url):
            if link not in seen:  # a page in a thousand is taken for one that was seen
                seen.add(link)
                front.append(link)
    return front


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "seen.bloom")
    front = crawl(seen := Scalable(keys=1000, fpr=0.001), ["https://example.org/12345"], 5_000)
    seen.save(path)  # the old file or the new one, whatever happens

    seen = Scalable.load(path)
    crawl(seen, front, 20_000)
    print(f"{seen.keys:,} pages seen, in {seen.bytes:,} bytes")
    assert "https://example.org/12344" in seen and seen.fpr < 0.0011
