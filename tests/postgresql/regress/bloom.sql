-- Every object of the extension, as a user calls it. bloom.out is what psql prints.
CREATE EXTENSION bloomery;
CREATE TABLE t AS SELECT g::bigint AS x, 'key ' || g AS word FROM generate_series(1, 3000) AS g;
ANALYZE t;

-- The type.
CREATE TABLE f AS SELECT bloom_agg(x, 3000, 0.01) AS keys FROM t;
SELECT attstorage FROM pg_attribute WHERE attrelid = 'f'::regclass AND attname = 'keys';
SELECT keys::text::bloom::bytea = keys::bytea, left(keys::text, 60) FROM f;
SELECT bloom_pack(keys)::bloom::bytea = keys::bytea FROM f;
SELECT 'nonsense'::bloom;
SELECT '{"image":"nonsense!"}'::bloom;
SELECT '{"image":"AAAA"}'::bloom;
SELECT '\x424c4f4f4d455259'::bytea::bloom;
SELECT set_byte(keys::bytea, 400, 255 - get_byte(keys::bytea, 400))::bloom FROM f;

-- Lookups.
SELECT count(*) FROM t, f WHERE keys @> x;
SELECT count(*) FROM t WHERE bloom_contains((SELECT keys FROM f), x);
SELECT keys @> NULL::bigint, NULL::bloom @> 1 FROM f;
SELECT keys @> 'one' FROM f;
SELECT keys @> 1::smallint, keys @> 1::integer, keys @> 1::bigint FROM f;
SELECT keys @> 1.5::float8 FROM f;
SELECT bloom_add(bloom(10), 'one') @> 'one', bloom_add(bloom(10), 'one') @> 'two';
-- Adding NULL changes nothing.
CREATE TABLE one AS SELECT bloom_add(bloom(10), 1) AS b;
UPDATE one SET b = bloom_add(b, NULL);
UPDATE one SET b = bloom_add(b, NULL::bigint);
SELECT b @> 1, bloom_add(NULL, 1) IS NULL, bloom_add(NULL, NULL) IS NULL FROM one;
SELECT bloom_add(bloom(10), word::varchar) @> 'key 1' FROM t WHERE x = 1;

-- Keys by their text; no setting changes them.
SET datestyle = 'German';
SET timezone = 'Asia/Kathmandu';
SELECT bloom_add(bloom(9), '2026-11-17'::date) @> '2026-11-17',
       bloom_add(bloom(9), 'infinity'::date) @> 'infinity',
       bloom_add(bloom(9), '2026-11-17 05:00:00.5+01'::timestamptz) @> '2026-11-17 04:00:00.5+00',
       bloom_add(bloom(9), '-infinity'::timestamptz) @> '-infinity',
       bloom_add(bloom(9), 1.50) @> '1.5',
       bloom_add(bloom(9), '10.0.0.0/8'::inet) @> '10.0.0.0/8',
       bloom_add(bloom(9), 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid) @> 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
       bloom_add(bloom(9), '\x00ff'::bytea) @> '\x00ff'::bytea;
RESET datestyle;
RESET timezone;

-- Aggregates.
SELECT bloom_agg(x) IS NULL, bloom_agg(x, 10, 0.1) IS NULL, bloom_union_agg(NULL) IS NULL FROM t WHERE false;
SELECT bloom_agg(NULL::bigint, 10, 0.1) IS NULL FROM t;
SELECT length(bloom_agg(x)::bytea), length(bloom_agg(x % 30)::bytea) FROM t;
SELECT bloom_agg(x)::bytea = (SELECT keys::bytea FROM f) FROM t;
SELECT count(*) FROM (SELECT bloom_agg(x, 100, 0.01) AS part FROM t GROUP BY x % 30) AS parts;
SELECT bloom_union_agg(part)::bytea = (SELECT keys::bytea FROM f)
  FROM (SELECT bloom_agg(x, 3000, 0.01) AS part FROM t GROUP BY x % 30) AS parts;
SELECT bloom_agg(x, 100, 0.01) OVER (ORDER BY x) @> x AS found, count(*) FROM t WHERE x <= 100 GROUP BY x ORDER BY x LIMIT 1;
SELECT bloom_agg(x, x, 0.01) FROM t;
SELECT bloom_agg(x, NULL, 0.01) FROM t;
SELECT bloom_agg(point(1, 1), 10, 0.01);
SELECT bloom_count(count_min_agg(x % 7, 0.001, 0.01), 3) FROM t;
SELECT * FROM top_k_rows((SELECT top_k_agg(least(x, 5), 3) FROM t)) LIMIT 1;
SELECT * FROM top_k_rows((SELECT keys FROM f));

-- Sets.
CREATE TABLE g AS SELECT bloom_agg(x, 3000, 0.01) FILTER (WHERE x <= 2000) AS a,
                         bloom_agg(x, 3000, 0.01) FILTER (WHERE x > 1000) AS b FROM t;
SELECT (a | b) @> 1::bigint, (a & b) @> 1500::bigint, ((a | b)::bytea = (b | a)::bytea) FROM g;
SELECT abs((bloom_compare(a, b) ->> 'keys_intersection')::float8 - 1000) < 150 FROM g;
SELECT abs(bloom_count(a | b) - 3000) < 100, bloom_fold(a) @> 7::bigint FROM g;
SELECT a | bloom(10) FROM g;
SELECT bloom_info(a) ->> 'kind', bloom_info(a) ->> 'form', bloom_info(a) ->> 'keys' FROM g;

-- Wrong calls.
SELECT bloom(0);
SELECT bloom(10, 0);
SELECT bloom(10, 'NaN');
SELECT bloom(10, 0.1, 'nonsense');
SELECT bloom(10, 0.1, 'fuse');
SELECT bloom(100000000000);
SELECT bloom_agg(x, 100000000000, 0.01) FROM t;
-- Before the second row is read, which cannot be.
SELECT count_min_agg(1 / (g - 2), 4e-8, 0.01) FROM generate_series(1, 9) AS g;
SELECT bloom_fold(keys, 0) FROM f;
SELECT bloom_fold(keys, -1) FROM f;
SELECT top_k_agg(x, 0) FROM t;
SELECT count_min_agg(x, 0, 0) FROM t;

-- The planner knows what to expect: 10 of 3000 keys, and 1 % of the others.
CREATE FUNCTION rows_expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;
CREATE FUNCTION few() RETURNS bloom LANGUAGE sql IMMUTABLE AS 'SELECT bloom_agg(g::bigint, 10, 0.01) FROM generate_series(1, 10) AS g';
SELECT rows_expected(format('SELECT * FROM t WHERE %L::bloom @> x', few())),
       rows_expected(format('SELECT * FROM t WHERE bloom_contains(%L::bloom, x)', few()));

-- Partitions that may hold a key.
CREATE TABLE parts (partition regclass, keys bloom);
CREATE TABLE part_0 AS SELECT x FROM t WHERE x % 2 = 0;
CREATE TABLE part_1 AS SELECT x FROM t WHERE x % 2 = 1;
INSERT INTO parts SELECT 'part_0', bloom_agg(x, 1500, 1e-6) FROM part_0;
INSERT INTO parts SELECT 'part_1', bloom_agg(x, 1500, 1e-6) FROM part_1;
SELECT * FROM bloom_partitions('parts', 17::bigint);
SELECT * FROM bloom_partitions('parts', 5000::bigint);
CREATE TABLE word_parts AS SELECT partition, bloom_add(bloom(10, 1e-6), partition::text) AS keys FROM parts;
SELECT * FROM bloom_partitions('word_parts', 'part_0');

-- plpgsql calls the same expression with other filters: an answer never comes from the one before.
CREATE FUNCTION ask_in_turns() RETURNS TABLE (right_ones bigint, wrong_ones bigint) LANGUAGE plpgsql AS $$
DECLARE
  filters bloom[] := ARRAY(SELECT bloom_agg(x, 300, 1e-6) FROM t GROUP BY x % 10 ORDER BY x % 10);
  filter bloom;
  found boolean;
BEGIN
  right_ones := 0; wrong_ones := 0;
  FOR i IN 1..300 LOOP
    FOR part IN 1..10 LOOP
      filter := filters[part];
      found := filter @> i::bigint;
      IF found = (i % 10 = part - 1) THEN right_ones := right_ones + 1; ELSE wrong_ones := wrong_ones + 1; END IF;
    END LOOP;
  END LOOP;
  RETURN NEXT;
END $$;
SELECT * FROM ask_in_turns();
DROP EXTENSION bloomery CASCADE;
