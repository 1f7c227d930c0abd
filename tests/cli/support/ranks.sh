# For scripts about ranks, read by `.`: skips where there is no mpirun or no plug-in, goes to a folder of its own.
# shellcheck shell=sh
if ! command -v mpirun >/dev/null; then
    echo "no mpirun here: skipped"
    exit 77
fi
if [ ! -f "$(dirname "$DISSENT")/libdissent-mpi.so" ] || [ -n "${DISSENT_SANITIZE:-}" ]; then
    echo "no libdissent-mpi.so in this build: skipped"
    exit 77
fi
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 # more ranks than cores: a waiting rank must not spin
export OMPI_MCA_orte_tmpdir_base="$scratch" # two mpirun that start together fail to create one folder in /tmp
# ranks N COMMAND...
ranks() {
    n=$1
    shift
    timeout 120 mpirun --oversubscribe --bind-to none -n "$n" "$@"
}
# refused NAME TEXT COMMAND...: exit code 2, said once.
refused() {
    name=$1
    text=$2
    shift 2
    code=0
    ranks 3 "$@" 2>message || code=$?
    [ $code = 2 ] || fail "$name: exit code $code"
    [ "$(grep -c "$text" message)" = 1 ] || fail "$name: $(cat message)"
}
# same_output NAME RANKS COMMAND OPTIONS...: standard output and --json as in one process, for each number of RANKS.
same_output() {
    name=$1
    counts=$2
    shift 2
    "$DISSENT" "$@" --threads 1 -q --json one.json >one.txt
    for n in $counts; do
        ranks "$n" "$DISSENT" "$@" --threads 2 -q --json ranks.json >ranks.txt || fail "$name fails on $n ranks"
        cmp one.txt ranks.txt && cmp one.json ranks.json || fail "$name: $n ranks give other bytes"
    done
}
