# The systemd unit of a node: systemd understands it, and its command line, with the variables that
# systemd sets, is a node that answers who has the key.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

sed "s#@CMAKE_INSTALL_FULL_BINDIR@#$(dirname "$BLOOMERY")#" "$project/cmake/bloomery-node.service.in" >bloomery-node.service
! grep -q @ bloomery-node.service || fail "a name is left to be filled in"

if command -v systemd-analyze >/dev/null; then
  expect_status 0 systemd-analyze verify --man=no ./bloomery-node.service
  ! grep bloomery err || fail "systemd objects"
fi

mkdir credentials
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >credentials/node.key
echo apple >have.txt
: >started
port=$(python3 -c 'import socket; d = socket.create_server(("127.0.0.1", 0)); print(d.getsockname()[1])')
# ${NAME} is one word, $NAME is as many as it has.
command=$(sed -n 's/^ExecStart=//p' bloomery-node.service)
env -i CREDENTIALS_DIRECTORY="$PWD/credentials" \
  NODE_OPTIONS="--listen 127.0.0.1:$port --have $PWD/have.txt --beat 100" \
  bash -c "exec ${command/\$\{CREDENTIALS_DIRECTORY\}/\"\$CREDENTIALS_DIRECTORY\"}" 2>started &

for ((try = 0; try < 100; ++try)); do
  grep -q "listening on port $port" started && break
  sleep 0.1
done
expect_status 0 bloomery find --node "127.0.0.1:$port" --key-file credentials/node.key apple
grep -q apple out || fail "found: $(cat out)"
expect_status 1 bloomery find --node "127.0.0.1:$port" --key-file credentials/node.key pear
