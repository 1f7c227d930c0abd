#!/bin/sh
# ./run check-all [PART ...]: the slow checks, a line per part at the end. Exit code 1 if a part failed. Each part is a function below;
# a part that cannot run here prints "skipped: reason" and exits with 77.
#   DISSENT_ATTACK_SECONDS  time of one script of tests/attacks [60]
#   DISSENT_FUZZ_SECONDS    time of one fuzz target [60]
set -eu
cd "$(dirname "$0")/.."
root=$PWD
logs=$root/build/check-all
DISSENT_ATTACK_SECONDS=${DISSENT_ATTACK_SECONDS:-60}
DISSENT_FUZZ_SECONDS=${DISSENT_FUZZ_SECONDS:-60}
export DISSENT_ATTACK_SECONDS DISSENT_FUZZ_SECONDS
mkdir -p "$logs"

skip() {
    echo "skipped: $*"
    exit 77
}

# Set-up in bare chroots, with all tests in the first.
part_chroots() {
    DISSENT_CHROOT_TESTS=${DISSENT_CHROOT_TESTS:-.} tests/packaging/chroots.sh
}

# The source distribution in a clean environment: package, module and command.
part_pip() {
    python3 -c 'import ensurepip, venv' 2>/dev/null || skip "python3 -m venv does not work here"
    rm -rf build/clean build/dist
    python3 -m venv build/clean
    build/clean/bin/pip install -q --disable-pip-version-check build || skip "pip cannot install the package build"
    build/clean/bin/python -m build -q --sdist --outdir build/dist .
    # shellcheck disable=SC2086 # words
    build/clean/bin/pip install -q --disable-pip-version-check ${DISSENT_PIP_OPTIONS:-} build/dist/dissent_labels-*.tar.gz
    (cd / && "$root/build/clean/bin/python" "$root/tests/packaging/installed_package.py")
}

part_attacks() {
    ls tests/attacks/*.sh >/dev/null 2>&1 || skip "tests/attacks contains no scripts"
    # one after the other: the time of each is a limit, and several would share the cores
    ctest --test-dir build --output-on-failure -L attack
}

part_fuzzing() {
    command -v clang >/dev/null || skip "clang is not installed"
    cmake --preset fuzz >/dev/null || skip "the fuzz targets cannot be configured"
    cmake --build build-fuzz -j "$(nproc)" --target fuzzers
    failed=
    for target in build-fuzz/fuzz_*; do
        [ -x "$target" ] && [ ! -d "$target" ] || continue
        name=$(basename "$target" | sed 's/^fuzz_//')
        mkdir -p "build-fuzz/found/$name" "build-fuzz/crashes/$name" "tests/fuzz/corpus/$name"
        begin=$(date +%s)
        outcome=ok
        "$target" -max_total_time="$DISSENT_FUZZ_SECONDS" -max_len=4096 -artifact_prefix="build-fuzz/crashes/$name/" \
            "build-fuzz/found/$name" "tests/fuzz/corpus/$name" >"build-fuzz/crashes/$name.log" 2>&1 || { outcome="FAILED: build-fuzz/crashes/$name.log" && failed="$failed $name"; }
        echo "fuzz_$name: $outcome ($(($(date +%s) - begin)) s)"
    done
    [ -z "$failed" ] || { echo "failed:$failed" && exit 1; }
}

# The documentation site with warnings as errors, links and anchors, an entry for every name; commands, outputs and Python blocks of
# all pages; ten pages in Chromium (screenshots in build/site-shots).
part_docs() {
    command -v doxygen >/dev/null || skip "doxygen is not installed"
    ./run docs
    ctest --test-dir build --output-on-failure -R '^(cli_pages|cli_readme|cli_exports|cli_labels_and_model|page_outputs|prose|site_reference)$'
    PYTHONPATH=build/python build/venv-docs/bin/python -m pytest -q -p no:cacheprovider python/tests/test_pages.py
    result=0
    python3 tools/site/check_site.py browser build/site build/site-shots || result=$?
    [ "$result" = 0 ] || [ "$result" = 77 ] || exit "$result"
}

# The page in the browser: the bytes of the golden cases, then the page in Chromium (screenshots in build/web/shots).
part_web() {
    command -v emcc >/dev/null || skip "emscripten is not installed"
    command -v node >/dev/null || skip "node is not installed"
    ./run web
    python3 tests/web/check_bytes.py build/dissent build/web/program
    result=0
    python3 tests/browser/browser_web.py build/dissent build/web || result=$?
    [ "$result" = 77 ] && skip "chromium and chromedriver are not installed"
    return "$result"
}

# PyTorch and Hugging Face, with MiniLM: losses, SoftTrainer, and the pages that use them. Needs about 6 GB for PyTorch.
part_python() {
    . python/tests/venv.sh
    need_module build
    make_venv build/venv-optional python/tests/requirements-optional.txt
    PYTHONPATH=$root/build/python HF_HUB_OFFLINE=1 build/venv-optional/bin/python -m pytest -q -p no:cacheprovider \
        python/tests/test_torch.py python/tests/test_hf.py python/tests/test_plot.py \
        "python/tests/test_examples.py::test_page" "python/tests/test_pages.py"
}

part_crowdkit() {
    sh python/parity/run_crowdkit_parity.sh build
    sh python/parity/run_crowdkit_suite.sh build
}

# The R package: R CMD check without errors and warnings, and parity with psych, vcd and krippendorff.
part_r() {
    sh r/check_package.sh build
}

# The Debian packages: build and lintian in a bare chroot, the README with the installed packages in another.
part_deb() {
    packaging/build_deb.sh build/dist
}

# Conda recipe, Homebrew formula, CITATION.cff and the files of .github.
part_recipes() {
    packaging/check_recipes.sh build
}

part_papers() {
    sh papers/check.sh
}

parts="docs papers web pip python r deb recipes crowdkit attacks fuzzing chroots"
[ $# -gt 0 ] || set -- $parts
for part; do
    case " $parts " in *" $part "*) ;; *) echo "check-all: no part \"$part\"; choose from: $parts" >&2 && exit 2 ;; esac
done

table=
code=0
for part; do
    printf '\n== %s\n' "$part"
    begin=$(date +%s)
    result=0
    # A pipe would hide the exit code: it goes through a file.
    (set +e; (set -e; "part_$part") 2>&1; echo $? >"$logs/$part.code") | tee "$logs/$part.log"
    result=$(cat "$logs/$part.code")
    case $result in
    0) outcome=pass ;;
    77) outcome=skip && why=$(sed -n 's/^skipped: //p' "$logs/$part.log" | tail -n 1) ;;
    *) outcome=fail && why="build/check-all/$part.log" && code=1 ;;
    esac
    table="$table$(printf '%-10s %-5s %5d s  %s' "$part" "$outcome" $(($(date +%s) - begin)) "$([ "$outcome" = pass ] || echo "$why")")
"
done
printf '\n%-10s %-5s %7s\n%s' part result time "$table"
exit $code
