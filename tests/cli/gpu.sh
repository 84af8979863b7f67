# --gpu makes the same file and gives the same answers, or says why it can't and leaves nothing
# behind.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

seq 100000 >keys
seq 50001 150000 >asked
bloomery build -q -o here keys
bloomery check here asked >expected
status=0
bloomery build --gpu -o there keys 2>err || status=$?
if [[ $status == 0 ]]; then
  grep -q 'crossed the bus in' err || fail "not told what the way took: $(cat err)"
  cmp here there
  bloomery build -q --gpu --keys 100000 -o there - <keys
  bloomery build -q --keys 100000 -o here keys
  cmp here there
  bloomery check --gpu here asked >got 2>err
  cmp expected got
  grep -q '100,000 hashes' err || fail "not told how many keys crossed: $(cat err)"
  bloomery bench --gpu --kind blocked --keys 100k --json >all
  expect_equal "$(json all 'all(v > 0 for k, v in d["gpu"].items() if k != "name")')" True
else
  expect_equal "$status" 2
  grep -qE 'built without CUDA|GPU' err || fail "$(cat err)"
  [[ ! -e there ]] || fail "half a filter was left"
  expect_status 2 bloomery check --gpu here asked
  expect_status 2 bloomery bench --gpu --kind blocked --keys 3000
fi
expect_error '--gpu is for filters of kind blocked, not classic' bloomery build --gpu --kind classic -o there keys
