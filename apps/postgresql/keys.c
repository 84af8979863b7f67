/*
 * From SQL's values to keys. The table in docs/sql.md is what this file promises: the same key has
 * the same bits in the tool, in C++ and in Python. No setting of a session changes a key, since
 * lookups are immutable and filters outlive sessions.
 */
#include "module.h"
/* It has postgres.h, which comes before all other headers. */
#include <stdio.h>
#include <string.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

static key_kind kind_of_type(Oid type) {
  switch (getBaseType(type)) {
    case INT2OID: return KEY_INT2;
    case INT4OID: return KEY_INT4;
    case INT8OID: return KEY_INT8;
    case TEXTOID:
    case VARCHAROID: return KEY_TEXT;
    case BYTEAOID: return KEY_BYTEA;
    case UUIDOID: return KEY_UUID;
    case INETOID: return KEY_INET;
    case DATEOID: return KEY_DATE;
    case TIMESTAMPTZOID: return KEY_TIMESTAMPTZ;
    case NUMERICOID: return KEY_NUMERIC;
    default: return KEY_UNKNOWN;
  }
}

key_kind kind_of_argument(FunctionCallInfo fcinfo, int argument) {
  const Oid type = get_fn_expr_argtype(fcinfo->flinfo, argument);
  const key_kind kind = OidIsValid(type) ? kind_of_type(type) : KEY_UNKNOWN;
  if (kind == KEY_UNKNOWN) {
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("bloomery: there are no keys of type %s",
                    OidIsValid(type) ? format_type_be(type) : "unknown"),
             errhint("Cast the key to text, here and wherever the filter is made or asked.")));
  }
  return kind;
}

uint32_t form_of_kind(key_kind kind) {
  switch (kind) {
    case KEY_INT2:
    case KEY_INT4:
    case KEY_INT8: return BLOOMERY_FORM_INTEGERS;
    case KEY_BYTEA: return BLOOMERY_FORM_BINARY;
    default: return BLOOMERY_FORM_TEXT;
  }
}

static void read_string(row_key* out, char* text) {
  out->data = text;
  out->bytes = strlen(text);
}

/* Bytes of a text in UTF-8, whatever the database's encoding. */
static void read_text(Datum value, row_key* out) {
  const text* packed = DatumGetTextPP(value);
  const char* data = VARDATA_ANY(packed);
  const int bytes = VARSIZE_ANY_EXHDR(packed);
  out->data = data;
  out->bytes = (size_t)bytes;
  if (GetDatabaseEncoding() != PG_UTF8) {
    char* converted = pg_server_to_any(data, bytes, PG_UTF8);
    if (converted != data) read_string(out, converted);
  }
}

/* As ISO 8601 says, whatever DateStyle is. */
static char* text_of_date(DateADT date) {
  struct pg_tm fields;
  char text[MAXDATELEN + 1];
  if (DATE_NOT_FINITE(date)) return pstrdup(DATE_IS_NOBEGIN(date) ? "-infinity" : "infinity");
  j2date(date + POSTGRES_EPOCH_JDATE, &fields.tm_year, &fields.tm_mon, &fields.tm_mday);
  EncodeDateOnly(&fields, USE_ISO_DATES, text);
  return pstrdup(text);
}

/* Likewise and in UTC, whatever TimeZone is: 2026-11-17 04:09:25.5+00. */
static char* text_of_time(TimestampTz time) {
  struct pg_tm fields;
  fsec_t fraction = 0;
  char text[MAXDATELEN + 1];
  if (TIMESTAMP_NOT_FINITE(time)) {
    return pstrdup(TIMESTAMP_IS_NOBEGIN(time) ? "-infinity" : "infinity");
  }
  if (timestamp2tm(time, NULL, &fields, &fraction, NULL, NULL) != 0) {
    ereport(ERROR,
            (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range")));
  }
  fields.tm_isdst = 0; /* it has a time zone, which is printed */
  EncodeDateTime(&fields, fraction, true, 0, NULL, USE_ISO_DATES, text);
  return pstrdup(text);
}

void read_key_slow(key_kind kind, Datum value, row_key* out) {
  switch (kind) {
    case KEY_INT2: out->integer = (uint64_t)(int64)DatumGetInt16(value); return;
    case KEY_INT4: out->integer = (uint64_t)(int64)DatumGetInt32(value); return;
    case KEY_INT8: out->integer = (uint64_t)DatumGetInt64(value); return;
    case KEY_TEXT: read_text(value, out); return;
    case KEY_BYTEA: {
      const bytea* packed = DatumGetByteaPP(value);
      out->data = VARDATA_ANY(packed);
      out->bytes = VARSIZE_ANY_EXHDR(packed);
      return;
    }
    case KEY_UUID: read_string(out, DatumGetCString(DirectFunctionCall1(uuid_out, value))); return;
    case KEY_INET: read_string(out, DatumGetCString(DirectFunctionCall1(inet_out, value))); return;
    case KEY_DATE: read_string(out, text_of_date(DatumGetDateADT(value))); return;
    case KEY_TIMESTAMPTZ: read_string(out, text_of_time(DatumGetTimestampTz(value))); return;
    case KEY_NUMERIC: read_string(out, numeric_normalize(DatumGetNumeric(value))); return;
    case KEY_UNKNOWN: break;
  }
  elog(ERROR, "bloomery: a key without a type");
}

void read_key_text(key_kind kind, Datum value, row_key* out) {
  read_key(kind, value, out);
  if (out->data == NULL) read_string(out, psprintf(INT64_FORMAT, (int64)out->integer));
}
