#!/usr/bin/env bash
# The same amount is 1.50 in a column and 1.5 in a list, where long ones are rounded.
# pg reads numeric as text, so that no digit is lost, but the values of numeric[] as numbers. bigint and bigint[] are both texts. What
# array_agg gives is of such a type. Guess: texts, as for the single value.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . pg@8.23.1

cat >try.mjs <<'JS'
import pg from 'pg';
const oids = { numeric: 1700, 'numeric[]': 1231, int8: 20, 'int8[]': 1016 };
const read = (type, text) => pg.types.getTypeParser(oids[type], 'text')(text);
for (const [type, text] of [['numeric', '1.50'], ['numeric[]', '{1.50}'], ['numeric', '0.1000000000000000055'], ['numeric[]', '{0.1000000000000000055}'], ['int8', '9007199254740993'], ['int8[]', '{9007199254740993}']]) console.log(type, text, '=>', read(type, text));
JS

expected="$(cat <<'SEEN'
numeric 1.50 => 1.50
numeric[] {1.50} => [ 1.5 ]
numeric 0.1000000000000000055 => 0.1000000000000000055
numeric[] {0.1000000000000000055} => [ 0.1 ]
int8 9007199254740993 => 9007199254740993
int8[] {9007199254740993} => [ '9007199254740993' ]
SEEN
)"
seen="$(node try.mjs)"
printf '%s\n%s\n' "pg@8.23.1, Node $(node --version)" "$seen"
[ "$seen" = "$expected" ] || { printf 'This has changed. It was:\n%s\n' "$expected"; exit 1; }
