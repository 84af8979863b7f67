/* The type bloom: an image as a value, as text, and between hosts. */
#include "module.h"
/* It has postgres.h, which comes before all other headers. */
#include <string.h>

#include "common/base64.h"
#include "libpq/pqformat.h"

PG_FUNCTION_INFO_V1(pgbloom_in);
PG_FUNCTION_INFO_V1(pgbloom_out);
PG_FUNCTION_INFO_V1(pgbloom_recv);
PG_FUNCTION_INFO_V1(pgbloom_send);
PG_FUNCTION_INFO_V1(pgbloom_from_bytea);

static const char image_field[] = "\"image\":\"";

static void refuse_text(void) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                  errmsg("invalid input syntax for type bloom"),
                  errdetail("It is a JSON object that ends with the field \"image\", in base64.")));
}

/* Only the field "image" is read: the others describe it to people. */
Datum pgbloom_in(PG_FUNCTION_ARGS) {
  const char* text = PG_GETARG_CSTRING(0);
  const char* image = *text == '{' ? strstr(text, image_field) : NULL;
  const char* end = NULL;
  char* bytes = NULL;
  int length = 0;
  bytea* value = NULL;
  if (image == NULL) refuse_text();
  image += sizeof image_field - 1;
  end = strchr(image, '"');
  if (end == NULL || strcmp(end, "\"}") != 0) refuse_text();
  length = pg_b64_dec_len((int)(end - image));
  bytes = palloc((Size)length + 1);
  length = pg_b64_decode(image, (int)(end - image), bytes, length);
  if (length < 0) refuse_text();
  value = checked_value(bytes, (size_t)length);
  pfree(bytes);
  PG_RETURN_BYTEA_P(value);
}

Datum pgbloom_out(PG_FUNCTION_ARGS) {
  const bytea* value = PG_GETARG_BYTEA_PP(0);
  const int bytes = VARSIZE_ANY_EXHDR(value);
  const held_filter* held = copy_filter(PG_GETARG_DATUM(0));
  const Size encoded = ((Size)bytes + 2) / 3 * 4; /* pg_b64_enc_len() has no room for so much */
  char* start = psprintf("{\"kind\":\"%s\",\"keys\":" UINT64_FORMAT ",\"bytes\":%d,%s",
                         bloomery_kind_name(bloomery_kind_of(held->filter)),
                         bloomery_keys_added(held->filter), bytes, image_field);
  const Size head = strlen(start);
  char* text = NULL;
  int length = 0;
  if (head + encoded + 3 > MaxAllocSize) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("bloomery: a filter of %d bytes is too large for text", bytes),
                    errhint("Use the binary format: COPY ... WITH (FORMAT binary).")));
  }
  text = palloc(head + encoded + 3);
  memcpy(text, start, head);
  length = pg_b64_encode(VARDATA_ANY(value), bytes, text + head, (int)encoded);
  if (length < 0) elog(ERROR, "bloomery: could not encode a filter");
  memcpy(text + head + length, "\"}", 3);
  PG_RETURN_CSTRING(text);
}

Datum pgbloom_recv(PG_FUNCTION_ARGS) {
  StringInfo message = (StringInfo)PG_GETARG_POINTER(0);
  const int bytes = message->len - message->cursor;
  PG_RETURN_BYTEA_P(checked_value(pq_getmsgbytes(message, bytes), (size_t)bytes));
}

Datum pgbloom_send(PG_FUNCTION_ARGS) { PG_RETURN_BYTEA_P(PG_GETARG_BYTEA_P_COPY(0)); }

/* The other direction needs no function: a bloom is its bytes. */
Datum pgbloom_from_bytea(PG_FUNCTION_ARGS) {
  const bytea* bytes = PG_GETARG_BYTEA_PP(0);
  PG_RETURN_BYTEA_P(checked_value(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)));
}
