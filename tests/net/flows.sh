# flows against nfdump, which keeps every flow: the same capture, in several sizes of memory. Needs
# no root.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
for program in nfpcapd nfdump; do command -v $program >/dev/null || skip "there is no $program"; done
nfpcapd -h 2>&1 | grep -q '^-w flowdir' || skip "this nfpcapd is older than 1.7"

# 40,000 packets of some 6,000 flows with Zipf's sizes.
/usr/bin/python3 -IS - <<'P'
import random, struct
random.seed(11)
with open('a.pcap', 'wb') as f:
    f.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    for i in range(40000):
        flow = int(6000 ** random.random()) - 1
        size = 60 + random.randrange(1400)
        ports = struct.pack('>HH', 1024 + flow, 53)
        if flow % 3 == 0:
            protocol, rest = 17, struct.pack('>HH', size - 34, 0)
        else:
            protocol, rest = 6, struct.pack('>IIBBHHH', i, 0, 0x50, 0x10, 1024, 0, 0)
        frame = (b'\2' * 12 + b'\x08\x00' + struct.pack('>BBHHHBBH', 0x45, 0, size - 14, i & 65535, 0, 64, protocol, 0)
                 + bytes([10, 0, flow >> 8, flow & 255, 192, 0, 2, flow % 7]) + ports + rest).ljust(60, b'\0')
        f.write(struct.pack('<IIII', 1762345678 + i // 10000, i % 10000, len(frame), size) + frame)
P

mkdir exact
nfpcapd -r a.pcap -w exact >nfpcapd.log 2>&1 || fail "nfpcapd: $(cat nfpcapd.log)"
nfdump -R exact -q -N -a -A proto,srcip,srcport,dstip,dstport -o 'fmt:%pr,%sa,%sp,%da,%dp,%byt,%pkt' >exact.csv
for options in "--memory 8MB" "--memory 200k" "--memory 200k --serial" "--memory 64k --seed 3" "--memory 64k --serial" "--memory 20k"; do
  bloomery flows -q --json --above 1 $options a.pcap >j
  /usr/bin/python3 -IS - "$options" <<'P' || fail "wrong with $options"
import json, sys
exact, total = {}, 0
for line in open('exact.csv'):
    words = [word.strip() for word in line.split(',')]
    if len(words) != 7 or words[0] not in ('6', '17', 'TCP', 'UDP'):
        continue
    protocol = {'6': 'TCP', '17': 'UDP'}.get(words[0], words[0])
    packets = int(words[6])
    # nfdump counts the bytes of IP, without the 14 of Ethernet.
    exact[f'{words[1]}:{words[2]} > {words[3]}:{words[4]} {protocol}'] = (int(words[5]) + 14 * packets, packets)
d = json.load(open('j'))
assert len(exact) > 4000 and sum(p for _, p in exact.values()) == d['packets'] == 40000, (len(exact), d['packets'])
assert sum(b for b, _ in exact.values()) == d['bytes'], d['bytes']
rows = {row['flow']: row for row in d['rows']}
missing = [flow for flow, (size, _) in exact.items() if size >= d['threshold'] and flow not in rows]
assert not missing, missing[:3]
for flow, row in rows.items():
    size, packets = exact[flow]
    assert size <= row['bytes'] <= size + row['error_bytes'] and row['packets'] <= packets, (row, exact[flow])
if sys.argv[1] == '--memory 8MB':
    assert d['exact'] and len(rows) == len(exact)
else:
    assert len(rows) >= 20 and not d['exact'], len(rows)
P
done
