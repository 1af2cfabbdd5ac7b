#!/usr/bin/env bash
# Checks FOCUS files with focus-validator, the validator of the FinOps Foundation: an original as CSV and as Parquet, a
# correction, and a broken file in which it must find the fault. Skipped with a message if it cannot be installed. Takes
# about a minute and a half, most of it for the installation (600 MB).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
. scripts/python-environment.sh
root=$PWD

VALIDATOR=focus-validator==2.2.1
# Its requirements allow a newer pyarrow, with which it does not start.
PYARROW='pyarrow<22'
STEP_SECONDS_MAX=300

# What the files are to be measured by: the rules of these features apply as well. Left out is
# PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED: its rule PricingCurrency-C-003-M accepts ISO 4217 codes only, while the
# specification (CurrencyFormat) allows virtual currencies, and VIRTUAL_CURRENCY_SUPPORTED asks for them.
FEATURES=ACCOUNT_NAMING_SUPPORTED,NEGOTIATED_PRICING_SUPPORTED,PUBLIC_PRICE_LIST_SUPPORTED,USAGE_MEASUREMENT_SUPPORTED
FEATURES+=,UNIT_PRICING_SUPPORTED,SUB_ACCOUNT_SUPPORTED,BILLING_BASED_ON_PROVISIONED_RESOURCES_SUPPORTED
FEATURES+=,RESOURCE_TYPE_ASSIGNMENT_SUPPORTED,VIRTUAL_CURRENCY_SUPPORTED,TAGGING_SUPPORTED

# InvoiceId is null because no invoice is known. The specification wants that, and the parent rule passes, but the validator
# also counts the rule for charges that have an invoice.
KNOWN_FAILURE=InvoiceId-C-005-C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

make_environment "$work/venv" 12 12 "$VALIDATOR" "$PYARROW" >"$work/install.txt" 2>&1 &
installation=$!

# The files: February of the demo, which is over on this day.
[ -f dist/src/cli/main.js ] || npm run build --silent
export DAYWALK_NOW=2026-03-10T03:00:00Z DAYWALK_WAREHOUSE=$work/daywalk-demo.db DAYWALK_LOG=silent
daywalk() { (cd "$work" && node "$root/dist/src/cli/main.js" "$@"); }
# TEAM: gives every user without a team this one.
people() { awk -F, -v team="$1" 'NR == 1 { print "user_id,team,cost_center" } NR > 1 { print $1 "," team ",CC-" NR % 3 }' "$work/missing.csv" >"$work/people.csv"; }
price() { printf 'valid_from,valid_to,currency,price_per_million\n2026-01-14,,EUR,%s\n' "$1" >"$work/prices.csv"; }

daywalk demo >/dev/null
daywalk people missing >"$work/missing.csv"
people Core && daywalk people load people.csv >/dev/null
price 12.34 && daywalk prices load prices.csv >/dev/null
# The total of a day is above its users, that of another one below them.
change() { node -e 'const Sqlite = require(process.argv[1]); new Sqlite(process.env.DAYWALK_WAREHOUSE).exec(process.argv[2]);' "$root/node_modules/better-sqlite3" "$1"; }
change "UPDATE tokens_daily SET billable_tokens = billable_tokens + 1001 WHERE date = '2026-02-03';
  UPDATE tokens_daily SET billable_tokens = billable_tokens - 77 WHERE date = '2026-02-04';"
export_focus() { daywalk focus --month 2026-02 --account-name Demo "$@" >>"$work/focus.txt"; }
export_focus --out original.csv
export_focus --out original.parquet
change "UPDATE tokens_daily_by_user_model SET billable_tokens = billable_tokens + 5 WHERE date = '2026-02-05';"
people Web && daywalk people load people.csv >/dev/null
price 13 && daywalk prices load prices.csv >/dev/null
export_focus --out correction.csv --corrects original.csv
for reason in restated repriced reassigned; do
  grep -q "Correction.*,$reason," "$work/correction.csv" || fail "the correction has no row with the reason $reason"
done
sed 's/,Usage,/,Use,/' "$work/original.csv" >"$work/broken.csv"

if ! wait "$installation"; then
  tail -5 "$work/install.txt"
  printf '\n!! SKIPPED: the validation of FOCUS files. %s could not be installed with Python 3.12\n\n' "$VALIDATOR"
  exit
fi

# The validator opens its list of currencies relative to the working directory.
mkdir -p "$work/focus_validator"
ln -s "$("$work/venv/bin/python" -c 'import focus_validator, os; print(os.path.dirname(focus_validator.__file__))')/rules" \
  "$work/focus_validator/rules"

validate() {
  (cd "$work" && timeout "$STEP_SECONDS_MAX" venv/bin/focus-validator --data-file "$1" --validate-version 1.2 \
    --focus-dataset CostAndUsage --block-download --applicability-criteria "$FEATURES") >"$work/$1.txt" 2>&1 || true
}

# NAME: the rules that fail, one per line. The exit code of the validator says nothing: it is 0 with failures, too.
failures() {
  local count rules
  count=$(sed -n 's/^Total: .* Fail: \([0-9]*\) .*/\1/p' "$work/$1.txt" | tail -1)
  rules=$(sed -n 's/^- \([A-Za-z]*-[A-Z]-[0-9]*-[A-Z]\): violations=.*/\1/p' "$work/$1.txt" | sort -u)
  if [ -z "$count" ] || [ "$count" != "$(grep -c . <<<"$rules")" ]; then
    tail -40 "$work/$1.txt" >&2
    fail "the result for $1 cannot be read"
  fi
  echo "$rules"
}

for file in original.csv original.parquet correction.csv broken.csv; do validate "$file" & done
wait

for file in original.csv original.parquet correction.csv; do
  found=$(failures "$file")
  if [ "$found" != "$KNOWN_FAILURE" ]; then
    sed -n '/^--- Failures/,$p' "$work/$file.txt"
    fail "$file: the validator finds ${found:-nothing} instead of $KNOWN_FAILURE alone"
  fi
  echo "valid: $file, $(grep '^Total: ' "$work/$file.txt" | tail -1) (known: $KNOWN_FAILURE)"
done
grep -q '^ChargeCategory-' <<<"$(failures broken.csv)" || fail 'the validator does not find a wrong ChargeCategory'
echo 'found: a wrong ChargeCategory'
