// All of the library that needs nothing but xxHash.
#pragma once

#include "bloomery/bits/bit_array.hpp"
#include "bloomery/core/error.hpp"
#include "bloomery/core/shape.hpp"
#include "bloomery/core/sizing.hpp"
#include "bloomery/core/version.hpp"
#include "bloomery/filter/blocked.hpp"
#include "bloomery/filter/classic.hpp"
#include "bloomery/filter/concepts.hpp"
#include "bloomery/filter/keyed.hpp"
#include "bloomery/filter/partitioned.hpp"
#include "bloomery/format/any_filter.hpp"
#include "bloomery/format/file.hpp"
#include "bloomery/format/image.hpp"
#include "bloomery/hash/hash.hpp"
#include "bloomery/hash/pairwise.hpp"
#include "bloomery/hash/probe.hpp"
