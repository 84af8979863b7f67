// Counting filters as sets: the plain filter of the same keys, and sums.
//
// The projection is for sending: whoever only asks needs no counters. The plain filter has the
// positions of the counting one and gives the same answers, false positives included.
//
//   unblocked  A classic filter with one bit for each counter: to the bit the one that the keys
//              themselves would have built. It has 1/w of the size.
//   in lines   A blocked filter of the same blocks, in which each counter above 0 is a group of w
//              set bits. It has the size of the counters, but only 1/w of the information, because
//              the bits of a group are equal.
//
// Merging adds counters, up to their maximum: the filter of both multisets, to the bit, while
// nothing sticks. Filters of different shapes are refused with the difference named.
#pragma once

#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/counting.hpp"

namespace bloomery {

// Throw errc::mismatch when the counters are in the other layout.
[[nodiscard]] classic_filter project_classic(const counting_view& f);
[[nodiscard]] blocked_filter project_blocked(const counting_view& f);

// keys() is the sum. Throws errc::mismatch unless the shapes are equal.
counting_filter& operator+=(counting_filter& into, const counting_view& from);
[[nodiscard]] counting_filter merge(const counting_view& a, const counting_view& b);

}  // namespace bloomery
