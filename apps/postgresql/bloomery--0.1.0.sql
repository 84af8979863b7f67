-- The extension's objects. docs/sql.md describes them.
\echo Use "CREATE EXTENSION bloomery" to load this file. \quit

-- The type ----------------------------------------------------------------------------------------

CREATE TYPE bloom;
CREATE FUNCTION bloom_in(cstring) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_out(bloom) RETURNS cstring
  AS 'MODULE_PATHNAME', 'pgbloom_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_recv(internal) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_send(bloom) RETURNS bytea
  AS 'MODULE_PATHNAME', 'pgbloom_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
-- Not compressed: the bits of a filter are random, and what is not compressed can be read in
-- slices.
CREATE TYPE bloom (
  INPUT = bloom_in, OUTPUT = bloom_out, RECEIVE = bloom_recv, SEND = bloom_send,
  INTERNALLENGTH = VARIABLE, STORAGE = external
);
COMMENT ON TYPE bloom IS 'a Bloom filter or one of its family: the bytes of a file of bloomery';

CREATE FUNCTION bloom_from_bytea(bytea) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE CAST (bytea AS bloom) WITH FUNCTION bloom_from_bytea(bytea);
CREATE CAST (bloom AS bytea) WITHOUT FUNCTION;

-- Functions ---------------------------------------------------------------------------------------

CREATE FUNCTION bloom(keys bigint, fpr float8 DEFAULT 0.01, kind text DEFAULT 'blocked', seed bigint DEFAULT 0)
  RETURNS bloom AS 'MODULE_PATHNAME', 'pgbloom_new' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_support(internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_support' LANGUAGE C STRICT;
CREATE FUNCTION bloom_restriction(internal, oid, internal, integer) RETURNS float8
  AS 'MODULE_PATHNAME', 'pgbloom_restriction' LANGUAGE C STABLE STRICT PARALLEL SAFE;

-- Of each pair the one for text takes literals, whose type is unknown.
CREATE FUNCTION bloom_contains(filter bloom, key anyelement) RETURNS boolean
  AS 'MODULE_PATHNAME', 'pgbloom_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_support;
CREATE FUNCTION bloom_contains(filter bloom, key text) RETURNS boolean
  AS 'MODULE_PATHNAME', 'pgbloom_contains' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT bloom_support;
-- Not strict, for adding NULL changes nothing.
CREATE FUNCTION bloom_add(filter bloom, key anyelement) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_add(filter bloom, key text) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_add' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_count(filter bloom) RETURNS float8
  AS 'MODULE_PATHNAME', 'pgbloom_count_keys' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_count(filter bloom, key anyelement) RETURNS bigint
  AS 'MODULE_PATHNAME', 'pgbloom_count_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_count(filter bloom, key text) RETURNS bigint
  AS 'MODULE_PATHNAME', 'pgbloom_count_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE FUNCTION bloom_union(bloom, bloom) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_union' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_intersection(bloom, bloom) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_intersection' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_fold(filter bloom, divisor bigint DEFAULT 2) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_fold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_info(filter bloom) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'pgbloom_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_compare(bloom, bloom) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'pgbloom_compare' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_pack(filter bloom) RETURNS bytea
  AS 'MODULE_PATHNAME', 'pgbloom_pack' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION top_k_rows(sketch bloom, OUT key text, OUT count bigint) RETURNS SETOF record
  AS 'MODULE_PATHNAME', 'pgbloom_top_rows' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 100;

CREATE OPERATOR @> (
  LEFTARG = bloom, RIGHTARG = anyelement, FUNCTION = bloom_contains,
  RESTRICT = bloom_restriction, JOIN = matchingjoinsel
);
CREATE OPERATOR @> (
  LEFTARG = bloom, RIGHTARG = text, FUNCTION = bloom_contains,
  RESTRICT = bloom_restriction, JOIN = matchingjoinsel
);
CREATE OPERATOR | (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_union, COMMUTATOR = |);
CREATE OPERATOR & (LEFTARG = bloom, RIGHTARG = bloom, FUNCTION = bloom_intersection, COMMUTATOR = &);

-- Aggregates --------------------------------------------------------------------------------------

CREATE FUNCTION bloom_agg_sized(internal, anyelement, bigint, float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_sized' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_agg_growing(internal, anyelement) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_growing' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_agg_count_min(internal, anyelement, float8, float8) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_count_min' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_agg_top_k(internal, anyelement, integer) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_top_k' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_agg_union(internal, bloom) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_union' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_agg_combine(internal, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION bloom_agg_serialize(internal) RETURNS bytea
  AS 'MODULE_PATHNAME', 'pgbloom_agg_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_agg_deserialize(bytea, internal) RETURNS internal
  AS 'MODULE_PATHNAME', 'pgbloom_agg_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION bloom_agg_final(internal) RETURNS bloom
  AS 'MODULE_PATHNAME', 'pgbloom_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE bloom_agg(key anyelement, keys bigint, fpr float8) (
  SFUNC = bloom_agg_sized, STYPE = internal, FINALFUNC = bloom_agg_final,
  COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serialize,
  DESERIALFUNC = bloom_agg_deserialize, PARALLEL = SAFE
);
-- The end makes the filter of the keys that wait, so the state is used up.
CREATE AGGREGATE bloom_agg(key anyelement) (
  SFUNC = bloom_agg_growing, STYPE = internal, FINALFUNC = bloom_agg_final, FINALFUNC_MODIFY = READ_WRITE,
  COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serialize,
  DESERIALFUNC = bloom_agg_deserialize, PARALLEL = SAFE
);
CREATE AGGREGATE bloom_union_agg(bloom) (
  SFUNC = bloom_agg_union, STYPE = internal, FINALFUNC = bloom_agg_final,
  COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serialize,
  DESERIALFUNC = bloom_agg_deserialize, PARALLEL = SAFE
);
CREATE AGGREGATE count_min_agg(key anyelement, epsilon float8, delta float8) (
  SFUNC = bloom_agg_count_min, STYPE = internal, FINALFUNC = bloom_agg_final,
  COMBINEFUNC = bloom_agg_combine, SERIALFUNC = bloom_agg_serialize,
  DESERIALFUNC = bloom_agg_deserialize, PARALLEL = SAFE
);
-- Lists of frequent keys cannot be merged.
CREATE AGGREGATE top_k_agg(key anyelement, k integer) (
  SFUNC = bloom_agg_top_k, STYPE = internal, FINALFUNC = bloom_agg_final, PARALLEL = RESTRICTED
);

-- Pruning -----------------------------------------------------------------------------------------

-- The partitions that may hold a key, from a table with the columns partition and keys. The second
-- one is for literals, as above.
CREATE FUNCTION bloom_partitions(filters regclass, key anyelement) RETURNS SETOF regclass
  LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT f.partition::regclass FROM %s AS f WHERE f.keys OPERATOR(@extschema@.@>) $1',
                              filters) USING key;
END $$;
CREATE FUNCTION bloom_partitions(filters regclass, key text) RETURNS SETOF regclass
  LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RETURN QUERY EXECUTE format('SELECT f.partition::regclass FROM %s AS f WHERE f.keys OPERATOR(@extschema@.@>) $1',
                              filters) USING key;
END $$;
