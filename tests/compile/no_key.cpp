// Must not compile: the message has to name the function that is missing.
#include "bloomery/filter/keyed.hpp"

struct unhashed {};

void one_key(bloomery::filter& f) { f.add(unhashed{}); }
