#!/bin/sh
# GPUs that fail, on a machine without one: a driver that is too old, without a device, or that does not answer (a library in place of
# libcuda.so.1); a device that is lost in the middle of training or of a fit to votes, or whose memory is used up (a library in place of
# our own). Exits 4 and 5, one sentence, nothing half written. What hangs is ended and named (exit 124).
set -eu
command -v "${CC:-cc}" >/dev/null || { echo "skipped: no C compiler"; exit 77; }
[ -z "${DISSENT_SANITIZE:-}" ] || { echo "skipped: under a sanitizer libraries of the test would need it too"; exit 77; }
# shellcheck source=tests/cli/support/scratch.sh
. "$DISSENT_SOURCE/tests/cli/support/scratch.sh"
# expect STATUS WORDS COMMAND...: it ends so, and says so in one line.
expect() {
    wanted=$1
    words=$2
    shift 2
    status=0
    "$@" >out 2>err || status=$?
    [ $status = "$wanted" ] || fail "exit $status, not $wanted: $* : $(cat out err)"
    grep -q "$words" err || fail "not \"$words\": $(cat err)"
    [ "$(wc -l <err)" = 1 ] || fail "more than a line: $(cat err)"
}
"$DISSENT" synth --items 300 --seed 1 --gold gold.csv --features features.npy -o votes.csv -q
"$DISSENT" labels votes.csv --method softmax -o labels.csv -q
cut -d, -f1 gold.csv | tail -n +2 >ids
train() {
    timeout 100 "$DISSENT" train --items features.npy --labels labels.csv --ids ids --model mlp:hidden=8 --epochs 20 -q --device "${device:-cuda}" "$@"
}

# ---- the driver ----
mkdir driver
cat >driver.c <<'TEXT'
#include <stdlib.h>
#include <string.h>
static int number(const char *name) { return getenv(name) ? atoi(getenv(name)) : 0; }
int cuDriverGetVersion(int *v) { *v = number("STUB_DRIVER"); return 0; }
int cuInit(unsigned flags) { (void)flags; return number("STUB_INIT"); }
static int none(void) { return 100; } /* CUDA_ERROR_NO_DEVICE */
typedef void function(void);
int cuGetProcAddress_v2(const char *name, void **p, int version, unsigned long long flags, int *found)
{
    function *f = (function *)none;
    (void)version, (void)flags;
    if (!strcmp(name, "cuDriverGetVersion")) f = (function *)cuDriverGetVersion;
    if (!strcmp(name, "cuInit")) f = (function *)cuInit;
    if (!strcmp(name, "cuGetProcAddress")) f = (function *)cuGetProcAddress_v2;
    memcpy(p, &f, sizeof f);
    if (found) *found = 0;
    return 0;
}
TEXT
column=$(dirname "$DISSENT")/libdissent-cuda.so
if [ -f "$column" ] && ! "$DISSENT" list devices cuda | grep -q "cannot open"; then
    ${CC:-cc} -shared -fPIC -w driver.c -o driver/libcuda.so.1
    LD_LIBRARY_PATH=$PWD/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    STUB_DRIVER=12040 expect 4 "the driver is too old: it knows CUDA 12.4, and 1[3-9].* is needed; install a newer one" train -o m
    STUB_DRIVER=99000 expect 4 "the driver finds no GPU" train -o m
    STUB_DRIVER=99000 STUB_INIT=999 expect 4 "CUDA does not answer" train -o m
    [ ! -e m ] || fail "a folder was made: $(ls m)"
    drivers="drivers that are too old, find nothing or do not answer; "
else
    echo "drivers are skipped: there is no libdissent-cuda.so that can be loaded"
    drivers=
fi

# ---- the device ----
cat >lost.c <<'TEXT'
/* A device that computes nothing, and fails at the STUB_AT-th step, or when more than STUB_BYTES are taken. */
#include "devices/stand_in.h"
#include "nn/device.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const dis__device_host *host;
static atomic_long steps, taken, most;
static void tell(void) { fprintf(stderr, "at most %ld bytes\n", (long)most); }
static dis_status open_it(const dis__device *d, void **s) { (void)d; *s = &steps; return DIS_OK; }
static void close_it(void *s) { (void)s; }
static size_t plan(void *s, dis__op op, const void *a) { (void)s, (void)op, (void)a; return 0; }
static size_t own(const void *s, const dis_context *c) { (void)s, (void)c; return 0; }
static dis_status fits(void *s, dis_context *c, size_t n, const char *w) { (void)s, (void)c, (void)n, (void)w; return DIS_OK; }
static dis_status begin(void *s, dis_context *c) { (void)s, (void)c; return DIS_OK; }
static bool serve(void *s, dis_context *c) { (void)s, (void)c; return true; }
static dis_status allocate(void *s, dis__memory what, size_t bytes, bool zeroed, void **out)
{
    const char *limit = getenv("STUB_BYTES");
    const long now = atomic_fetch_add(&taken, (long)bytes) + (long)bytes;
    (void)s, (void)what, (void)zeroed;
    if (limit && now > atol(limit)) {
        atomic_fetch_sub(&taken, (long)bytes);
        return host->fail(DIS_ELIMIT, "the memory of device cuda:0 is used up");
    }
    if (now > most) most = now;
    long *at = calloc(1, bytes + 64);
    *at = (long)bytes;
    *out = at + 8;
    return DIS_OK;
}
static void release(void *s, void *m)
{
    (void)s;
    if (!m) return;
    atomic_fetch_sub(&taken, ((long *)m)[-8]);
    free((long *)m - 8);
}
static dis_status copy(void *s, void *to, const void *from, size_t n) { (void)s; memcpy(to, from, n); return DIS_OK; }
static dis_status zero(void *s, void *to, size_t n) { (void)s; memset(to, 0, n); return DIS_OK; }
static dis_status run(void *s, dis__op op, const void *a) { (void)s, (void)op, (void)a; return DIS_OK; }
static dis_status begin_step(void *s, const uint64_t *k, size_t n, bool *r)
{
    (void)s, (void)k, (void)n;
    *r = true;
    if (getenv("STUB_SLEEP")) usleep(2000);
    if (getenv("STUB_AT") && ++steps == atol(getenv("STUB_AT"))) return host->fail(DIS_EIO, "device cuda:0 is lost");
    return DIS_OK;
}
static dis_status end(void *s) { (void)s; return DIS_OK; }
static void describe(const dis__device *d, char *t, size_t n) { (void)d; if (n) *t = 0; }
size_t dis_device_plugin(const dis__device_host *h, dis__device_row *rows, size_t room, char why[DIS_DEVICE_WHY])
{
    static dis__device network;
    (void)room, (void)why;
    host = h;
    if (getenv("STUB_TELL")) atexit(tell);
    rows[0] = (dis__device_row){.name = "cuda:0", .machine = "cuda", .host = h};
    network = (dis__device){.name = "cuda:0", .row = &rows[0], .n_ops = DIS_N_OPS, .summary = "none", .precision = DIS_PRECISION_BF16,
                            .trains = true, .number = {DIS_FLOAT32, DIS_FLOAT32, DIS_FLOAT32}, .describe = describe, .round = 128,
                            .open = open_it, .close = close_it, .plan = plan, .own_bytes = own, .fits = fits, .begin = begin,
                            .serve = serve, .allocate = allocate, .release = release, .copy_in = copy, .copy_out = copy, .zero = zero,
                            .run = run, .begin_step = begin_step, .end_step = end, .synchronise = end};
    rows[0].network[0] = (dis__device_table){&network, sizeof network};
    stand_in_add_em(&rows[0]);
    stand_in_add_bootstrap(&rows[0]);
    return 1;
}
TEXT
${CC:-cc} -std=c11 -D_GNU_SOURCE -shared -fPIC -w -I"$DISSENT_SOURCE/include" -I"$DISSENT_SOURCE/src" -I"$DISSENT_SOURCE/tests" lost.c \
    "$DISSENT_SOURCE/tests/devices/em_stand_in.c" "$DISSENT_SOURCE/tests/devices/bootstrap_stand_in.c" "$DISSENT_SOURCE/src/core/random/random.c" \
    "$DISSENT_SOURCE/src/core/random/rng.c" -lm -o lost.so
DISSENT_CUDA=$PWD/lost.so
export DISSENT_CUDA
train -o whole
[ -f whole/model.json ] || fail "no model"
STUB_AT=5 expect 4 "device cuda:0 is lost" train -o lost
STUB_BYTES=1000 expect 5 "the memory of device cuda:0 is used up" train -o full
for folder in lost full; do
    [ ! -e $folder/model.json ] || fail "$folder has a model"
    left=$(find $folder -name '*.tmp' -o -name 'weights-*' 2>/dev/null)
    [ -z "$left" ] || fail "left behind: $left"
done
# in an epoch after checkpoints have been written: what is there is resumed
STUB_AT=40 expect 4 "device cuda:0 is lost" train -o later
train --resume -o later
[ -f later/model.json ] || fail "not resumed"
# --jobs auto: runs that find no memory beside the others wait for one to end
STUB_TELL=1 train -o alone 2>err
one=$(awk '/at most/ { print $3 }' err)
bytes=$((one * 5 / 2))
STUB_SLEEP=1 STUB_BYTES=$bytes expect 5 "is used up" train --runs 6 --jobs 6 --threads 6 -o crowded
STUB_SLEEP=1 STUB_TELL=1 STUB_BYTES=$bytes train --runs 6 --jobs auto --threads 6 -o fitted 2>err
[ "$(awk '/at most/ { print $3 }' err)" -ge $((one * 3 / 2)) ] || fail "one run at a time: $(cat err)"
[ "$(find fitted -name model.json | wc -l)" = 6 ] || fail "not six models: $(ls fitted)"
for i in 1 2 3 4 5 6 7 8; do # those that wait once went on trying for ever after one had failed, now and then
    rm -rf none
    STUB_BYTES=1000 expect 5 "is used up" train --runs $((1 + i % 4 * 3)) --jobs auto --threads 6 -o none
done

# ---- labels on the device (tests/devices/em_stand_in.c) ----
fit() {
    timeout 100 "$DISSENT" labels votes.csv -q --device "${device:-cuda}" "$@"
}
fit --method dawid-skene --json there.json -o there.csv
grep -q '"device": "cuda:0"' there.json || fail "the summary does not name the device: $(cat there.json)"
"$DISSENT" labels votes.csv -q --method dawid-skene -o here.csv
cut -d, -f1,2 there.csv >there.labels
cut -d, -f1,2 here.csv | cmp - there.labels || fail "other labels than on the CPU"
"$DISSENT" labels votes.csv --verbose --device auto --method papers -o both.csv 2>err
grep -q "^  mace .* cuda:0$" err || fail "the table does not name the device: $(cat err)"
grep -q "^  softmax .* cpu$" err || fail "the table does not name the CPU: $(cat err)"
STUB_AT=3 expect 4 "it is lost" fit --method dawid-skene -o lost.csv
STUB_AT=2 expect 4 "it is lost" fit --method papers -o lost.csv
STUB_BYTES=100 expect 5 "the memory of device cuda:0 is used up" fit --method mace -o lost.csv
timeout 100 "$DISSENT" labels votes.csv --verbose --device cuda --method glad -o glad.csv 2>err
grep -q "^  glad .* cpu$" err || fail "the table does not name the CPU: $(cat err)"
"$DISSENT" labels votes.csv --method glad -o here.csv -q
cmp glad.csv here.csv || fail "glad: other labels than on the CPU"
device=cuda:3
fit --method dawid-skene -o lost.csv 2>err && fail "there is one device"
grep -q "there is no device cuda:3" err || fail "$(cat err)"
device=cuda
[ ! -e lost.csv ] || fail "labels of a fit that failed"

# ---- resamples on the device (tests/devices/bootstrap_stand_in.c): from 2^26 draws on ----
measure() {
    timeout 100 "$DISSENT" eval labels.csv --gold gold.csv -q --device "${device:-cuda}" --metric log_loss --metric ece "$@"
}
digits() { sed 's/\(\.[0-9]\{10\}\)[0-9]*/\1/g'; }
measure --resamples 240000 | digits >table
"$DISSENT" eval labels.csv --gold gold.csv -q --metric log_loss --metric ece --resamples 240000 | digits | cmp - table ||
    fail "other intervals: $(cat table)"
STUB_AT=1 expect 4 "it is lost" measure --resamples 240000
STUB_BYTES=100 expect 5 "the memory of device cuda:0 is used up" measure --resamples 240000
device=cuda:3
measure --resamples 100 >table 2>err && fail "there is one device"
grep -q "cuda:3" err || fail "$(cat err)"
echo "${drivers}a device that is lost, and one whose memory is used up: exits 4 and 5, nothing half written"
