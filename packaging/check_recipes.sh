#!/bin/sh
# The recipes and metadata files that no other check reads: schemas of CITATION.cff and .github, the conda recipe and the Homebrew
# formula. The build commands and tests of the conda recipe run with the source distribution, with this machine's libraries
# in place of conda's packages. Homebrew itself is not run.
#
#     packaging/check_recipes.sh [BUILD]       work in BUILD [build]; needs the package index
set -eu
cd "$(dirname "$0")/.."
work=$(realpath -m "${1:-build}")/recipes
mkdir -p "$work"
python3 -c 'import ensurepip, venv' 2>/dev/null || { echo "skipped: python3 -m venv does not work here" && exit 77; }
[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check build check-jsonschema jinja2 pyyaml ||
    { echo "skipped: pip cannot install check-jsonschema" && exit 77; }

schema() { # SCHEMA FILE...
    name=$1
    shift
    "$work/venv/bin/check-jsonschema" --builtin-schema "vendor.$name" "$@"
}
schema citation-file-format CITATION.cff
schema github-workflows .github/workflows/*.yml
schema github-issue-config .github/ISSUE_TEMPLATE/config.yml
schema github-issue-forms .github/ISSUE_TEMPLATE/*_re*.yml

# The formula: syntax, and the style of Homebrew where rubocop is installed (double quotes, bin/"name").
formula=packaging/homebrew/dissent.rb
if command -v ruby >/dev/null; then ruby -c "$formula"; else echo "ruby is not installed: $formula is not read"; fi
if command -v rubocop >/dev/null; then
    cat >"$work/rubocop.yml" <<'TEXT'
AllCops: {NewCops: enable, SuggestExtensions: false}
Layout/LineLength: {Max: 140}
Layout/SpaceAroundOperators: {Enabled: false}
Style/Documentation: {Enabled: false}
Style/FrozenStringLiteralComment: {Enabled: false}
Style/StringLiterals: {EnforcedStyle: double_quotes}
TEXT
    rubocop --config "$work/rubocop.yml" "$formula"
fi

# The conda recipe: rendered as conda-build does, then its commands.
rm -rf "$work/sdist" "$work/source" "$work/prefix"
mkdir -p "$work/source"
"$work/venv/bin/python" -m build -q --sdist --outdir "$work/sdist" .
tar xzf "$work"/sdist/dissent_labels-*.tar.gz -C "$work/source" --strip-components 1
"$work/venv/bin/python" - "$work" "$(basename "$work"/sdist/*.tar.gz)" <<'TEXT'
import sys

import jinja2
import yaml

work, sdist = sys.argv[1:]
with open("packaging/conda/recipe/meta.yaml", encoding="utf-8") as file:
    text = file.read()
recipe = yaml.safe_load(jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=True).from_string(text).render(
    compiler=lambda language: f"{language}-compiler", stdlib=lambda language: f"{language}-stdlib"))
assert set(recipe) == {"package", "source", "build", "requirements", "test", "about"}, set(recipe)
assert recipe["source"]["url"].endswith("/" + sdist), f"{recipe['source']['url']}: the release has {sdist}"
with open(work + "/build.sh", "w", encoding="utf-8") as file:
    file.write(recipe["build"]["script"])
with open(work + "/test.sh", "w", encoding="utf-8") as file:
    file.write("\n".join(recipe["test"]["commands"]) + "\n")
TEXT
grep -qF "/$(basename "$work"/sdist/*.tar.gz)\"" "$formula" || { echo "$formula: the release has $(basename "$work"/sdist/*.tar.gz)" && exit 1; }
(cd "$work/source" && PREFIX=$work/prefix CMAKE_ARGS='' sh -eu "$work/build.sh" >"$work/build.log" 2>&1) || { tail -n 20 "$work/build.log" && exit 1; }
mkdir -p "$work/test"
(cd "$work/test" && PATH=$work/prefix/bin:$PATH sh -eu "$work/test.sh")
echo "the recipes hold"
