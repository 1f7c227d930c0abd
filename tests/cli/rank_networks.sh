#!/bin/sh
# Ranks on machines of their own, as far as the network is concerned: two network namespaces that only a virtual cable
# connects, a rank in each. Labels are the bytes of one process, and when the cable goes, so do both ranks within 30 s.
set -eu
skip() {
    echo "$*: skipped"
    exit 77
}
fail() {
    echo "$*"
    exit 1
}
command -v mpirun >/dev/null || skip "no mpirun here"
[ -f "$(dirname "$DISSENT")/libdissent-mpi.so" ] && [ -z "${DISSENT_SANITIZE:-}" ] || skip "no libdissent-mpi.so in this build"
command -v ip >/dev/null || skip "no ip (iproute2) here"
one="dissent-$$-1" two="dissent-$$-2"
ip netns add "$one" 2>/dev/null || skip "network namespaces are not permitted"
scratch=$(mktemp -d)
clean() {
    ip netns del "$one" 2>/dev/null || true
    ip netns del "$two" 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$scratch"
ip netns add "$two" && ip -n "$one" link add cable type veth peer name cable netns "$two" 2>/dev/null || skip "no virtual cables here"
for end in "$one 10.207.93.1" "$two 10.207.93.2"; do
    # shellcheck disable=SC2086 # two words
    set -- $end
    ip -n "$1" address add "$2/24" dev cable
    ip -n "$1" link set cable up
    ip -n "$1" link set lo up
done
# how mpirun reaches the other machine
cat >agent <<EOF
#!/bin/sh
shift
exec ip netns exec $two sh -c "\$*"
EOF
chmod +x agent
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_orte_tmpdir_base="$scratch" # two mpirun that start together fail to create one folder in /tmp
ranks() {
    ip netns exec "$one" timeout 100 mpirun -n 2 --host 10.207.93.1,10.207.93.2 --bind-to none --mca plm_rsh_agent "$scratch/agent" \
        --mca btl tcp,self --mca btl_tcp_if_include 10.207.93.0/24 --mca oob_tcp_if_include 10.207.93.0/24 --wdir "$scratch" "$@"
}
"$DISSENT" synth --items 5000 --workers 50 --seed 3 --shuffle -o votes.csv -q
"$DISSENT" labels votes.csv --method papers --threads 1 -q -o one.csv
before=$(ip netns exec "$one" cat /sys/class/net/cable/statistics/tx_bytes)
ranks "$DISSENT" labels votes.csv --method papers --threads 1 -q -o ranks.csv || fail "two machines: exit code $?"
cmp one.csv ranks.csv || fail "two machines give other bytes"
sent=$(($(ip netns exec "$one" cat /sys/class/net/cable/statistics/tx_bytes) - before))
[ $sent -gt 50000 ] || fail "only $sent bytes went over the cable"
echo "two machines: the bytes of one process, $sent bytes from the first to the second"

# a machine that is gone: its processes are killed, the cable is cut
start=$(date +%s)
(
    sleep 2
    pids=$(ip netns pids "$two")
    ip -n "$two" link set cable down
    # shellcheck disable=SC2086 # one argument each
    kill -9 $pids 2>/dev/null || true
) &
ranks "$DISSENT" labels votes.csv --method mace:iterations=1000000,tolerance=0 -q -o dead.csv >/dev/null 2>message && fail "a machine that is gone is no failure"
took=$(($(date +%s) - start))
[ $took -lt 32 ] || fail "the other machine took $took s to stop"
[ ! -e dead.csv ] || fail "labels were written"
echo "a machine that was lost: the other stopped after $took s"
