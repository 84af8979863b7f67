# Keyed filters and the hash schemes of other programs.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

echo 000102030405060708090a0b0c0d0e0f >key
echo 100102030405060708090a0b0c0d0e0f >wrong
bloomery build -q -o k.bloom --hash siphash --key-file key $words
expect_equal "$(bloomery check -c --key-file key k.bloom $words)" "$(wc -l <$words)"
expect_error "k.bloom: it was made with a secret key" bloomery check k.bloom $words
expect_error "k.bloom: it was made with another secret key" bloomery check --key-file wrong k.bloom $words
expect_error "another secret key" bloomery add --key-file wrong k.bloom $words
bloomery build -q -o plain.bloom $words
expect_error "plain.bloom: the hash xxh3 takes no --key-file" bloomery check --key-file key plain.bloom $words
expect_error "--key-file" bloomery build -o x.bloom --hash siphash $words
expect_error "--hash siphash" bloomery build -o x.bloom --key-file key $words
echo short >bad
expect_error "openssl rand" bloomery build -o x.bloom --hash siphash --key-file bad $words
expect_error "nokey" bloomery build -o x.bloom --hash siphash --key-file nokey $words
bloomery add -q --key-file key k.bloom <<<'and another'
expect_status 0 bloomery check --key-file key k.bloom <<<'and another'
# The file says which key, not what key; info and verify need none.
bloomery info --json k.bloom >info
expect_equal "$(json info 'd["hash"], len(d["key_id"])')" "('siphash', 16)"
bloomery verify -q k.bloom
LC_ALL=C grep -qaP '\x01\x02\x03\x04\x05\x06\x07' k.bloom && fail "the key is in the file"

for hash in sha1 md5; do
  bloomery build -q -o d.bloom --kind classic --hash $hash $words
  expect_equal "$(bloomery check -c d.bloom $words)" "$(wc -l <$words)"
  bloomery info --json d.bloom >info
  expect_equal "$(json info 'd["hash"]')" $hash
  seq -f 'no word %.0f' 100000 >others
  passed=$(bloomery check -c d.bloom others)
  ((passed <= 1160)) || fail "$hash: $passed of 100,000 others passed"
  expect_error "kind classic" bloomery build -o x.bloom --hash $hash $words
  expect_error "--keys" bloomery build -o x.bloom --kind classic --hash $hash <$words
done
expect_error "4 words" bloomery build -o x.bloom --kind classic --hash md5 --probes 7 $words
expect_error "no --seed" bloomery build -o x.bloom --kind classic --hash md5 --seed 7 $words
[[ ! -e x.bloom ]] || fail "a file was left"
