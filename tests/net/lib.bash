# What the tests with networks of namespaces share. They need root and some programs, and are
# skipped with a reason (77) where these are missing.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.bash"

skip() {
  echo "skipped: $*"
  exit 77
}
need_namespaces() { # PROGRAM...
  local program
  [[ $(id -u) == 0 ]] || skip "namespaces need root"
  for program in ip sysctl "$@"; do command -v "$program" >/dev/null || skip "there is no $program"; done
  ip netns add "$net-try" 2>/dev/null || skip "this machine makes no network namespaces"
  ip -n "$net-try" link add try0 type veth peer name try1 2>/dev/null || {
    ip netns del "$net-try"
    skip "this machine makes no veth pairs"
  }
  ip netns del "$net-try"
}

# Names of this run, so that several can run at the same time.
net=bl$$
spaces=()
pids=()
clean_up() {
  local space
  kill "${pids[@]}" 2>/dev/null || true
  for space in "${spaces[@]}"; do ip netns del "$space" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean_up EXIT

space() { # NAME: a namespace that forwards whatever comes
  ip netns add "$net-$1"
  spaces+=("$net-$1")
  ip -n "$net-$1" link set lo up
  in_space "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
}
in_space() { # NAME COMMAND...
  local name=$1
  shift
  ip netns exec "$net-$name" "$@"
}
# The same in the place of this shell: for what goes into the background and is killed by its
# number.
become_in_space() {
  local name=$1
  shift
  exec ip netns exec "$net-$name" "$@"
}
link() { # NUMBER A B: a veth pair; A has 10.50.NUMBER.1, B has 10.50.NUMBER.2
  ip -n "$net-$2" link add "e$1" type veth peer name "e$1" netns "$net-$3"
  ip -n "$net-$2" addr add "10.50.$1.1/30" dev "e$1"
  ip -n "$net-$3" addr add "10.50.$1.2/30" dev "e$1"
  ip -n "$net-$2" link set "e$1" up
  ip -n "$net-$3" link set "e$1" up
}
# wait_for FILE TEXT
wait_for() {
  for _ in $(seq 400); do grep -q "$2" "$1" 2>/dev/null && return; sleep 0.05; done
  fail "no '$2' in $1: $(cat "$1")"
}
