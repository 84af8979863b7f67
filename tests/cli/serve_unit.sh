# The systemd unit of the server: systemd understands it, and its command line, as it is and with
# options of an administrator, is a server that answers, reads its files again and ends well.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

sed "s#@CMAKE_INSTALL_FULL_BINDIR@#$(dirname "$BLOOMERY")#" "$project/cmake/bloomery-server.service.in" >bloomery-server.service
! grep -q @CMAKE bloomery-server.service || fail "a name is left to be filled in"

if command -v systemd-analyze >/dev/null; then
  expect_status 0 systemd-analyze verify --man=no ./bloomery-server.service
  ! grep bloomery err || fail "systemd objects"
fi

mkdir dir
echo apple | bloomery build -q -o dir/fruit -
setting() { sed -n "s/^$1=//p" bloomery-server.service; }
# served OPTIONS: the server of the unit with these SERVE_OPTIONS, of which systemd makes words, on
# this folder. The port is whichever is free.
served() {
  local command address
  command=$(setting ExecStart)
  : >started
  env -i SERVE_OPTIONS="$(sed 's/:[0-9]\+/:0/' <<<"$1")" \
    bash -c "exec ${command/\/srv\/filters/\"$PWD/dir\"}" 2>started &
  server=$!
  for ((try = 0; try < 300; ++try)); do
    address=$(sed -n 's#^bloomery: .* at http://.*:\([0-9]*\)$#\1#p' started)
    [[ -z $address ]] || break
    kill -0 $server 2>/dev/null || fail "no server: $(cat started)"
    sleep 0.1
  done
  [[ -n $address ]] || fail "no port: $(cat started)"
  expect_equal "$(ask "$address")" '{"found":true}'
  bash -c "MAINPID=$server; $(setting ExecReload)"
  expect_equal "$(ask "$address")" '{"found":true}'
  kill $server
  wait $server || fail "status $? at the end: $(cat started)"
}
ask() {
  exec 9<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET /filters/fruit/check?key=apple HTTP/1.0\r\n\r\n' >&9
  tail -1 <&9
  exec 9>&-
}
# As it is, and with what its opening says of /etc/bloomery/serve.conf.
for options in "$(setting Environment | sed -n 's/^"SERVE_OPTIONS=\(.*\)"$/\1/p')" \
  "$(sed -n 's/.* SERVE_OPTIONS="\(.*\)"\.$/\1/p' bloomery-server.service)"; do
  [[ $options == *--listen*:[0-9]* ]] || fail "no options: '$options'"
  served "$options"
done
