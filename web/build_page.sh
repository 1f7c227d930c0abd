#!/bin/sh
# build_page.sh FOLDER: compiles the program with emcc in FOLDER/program and packs the page, FOLDER/dissent.html.
set -eu
cd "$(dirname "$0")/.."
folder=$1
# Debian's emscripten needs modules of Debian's node; another node does not look for them there.
[ ! -d /usr/share/nodejs ] || export NODE_PATH=/usr/share/nodejs
[ -e "$folder/program/build.ninja" ] || emcmake cmake -G Ninja -S . -B "$folder/program" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$folder/program"
python3 web/pack_page.py "$folder/program" "$folder/dissent.html"
