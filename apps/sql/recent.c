#include "recent.h"

static const bloomery_filter* found(bloomsql_recent* recent, size_t number) {
  recent->slots[number].used = ++recent->clock;
  recent->last = number;
  return recent->slots[number].filter;
}

const bloomery_filter* bloomsql_find(bloomsql_recent* recent, const bloomsql_name* name) {
  size_t i = 0;
  for (i = 0; i < BLOOMSQL_SLOTS; ++i) {
    const bloomsql_slot* slot = &recent->slots[i];
    if (slot->filter != NULL && bloomsql_is(slot, name->data, name->bytes, name->image_bytes)) {
      return found(recent, i);
    }
  }
  return NULL;
}

const bloomery_filter* bloomsql_keep(bloomsql_recent* recent, const bloomsql_name* name,
                                     bloomery_filter* filter) {
  size_t oldest = 0;
  size_t i = 0;
  bloomsql_slot* slot = NULL;
  for (i = 1; i < BLOOMSQL_SLOTS; ++i) {
    if (recent->slots[i].used < recent->slots[oldest].used) oldest = i;
  }
  slot = &recent->slots[oldest];
  ++recent->kept;
  bloomery_free(slot->filter);
  slot->filter = filter;
  slot->name_bytes = name->bytes;
  slot->image_bytes = name->image_bytes;
  memcpy(slot->name, name->data, name->bytes);
  return found(recent, oldest);
}

void bloomsql_forget(bloomsql_recent* recent) {
  size_t i = 0;
  for (i = 0; i < BLOOMSQL_SLOTS; ++i) bloomery_free(recent->slots[i].filter);
  memset(recent, 0, sizeof *recent);
}
