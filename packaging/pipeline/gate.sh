#!/bin/sh
# Runs two jobs in turn and compares them, or one job with an earlier record. For action.yml and gitlab.yml.
#
# FATHOM_BEFORE   job file of the base, or a record that `fathom run --record` made
# FATHOM_AFTER    job file of the change
# FATHOM_REPEAT   runs of each, 5 unless given
# FATHOM_TOLERANCE, FATHOM_METRICS, FATHOM_OPTIONS   as of `fathom compare` and `fathom run`
# FATHOM_OUTPUT   directory for before.json, after.json, comparison.md, junit.xml
#
# Exit code: that of `fathom compare`; 4 where the change is slower beyond the tolerance.
set -eu
fathom=${FATHOM_PROGRAM:-fathom}
repeat=${FATHOM_REPEAT:-5}
output=${FATHOM_OUTPUT:-fathom-results}
mkdir -p "$output"

# A baseline is a record: JSON. A job file never begins with a brace.
if [ "$(head -c 1 "$FATHOM_BEFORE")" = '{' ]; then
    cp "$FATHOM_BEFORE" "$output/before.json"
    # shellcheck disable=SC2086 # options are words
    "$fathom" run "$FATHOM_AFTER" --repeat="$repeat" --record="$output/after.json" ${FATHOM_OPTIONS:-} >"$output/report.txt"
else
    # One of each in turn, so that what the machine does meanwhile meets both.
    rounds=$repeat
    before='' after=''
    while [ "$rounds" -gt 0 ]; do
        for side in before after; do
            job=$FATHOM_BEFORE
            if [ "$side" = after ]; then job=$FATHOM_AFTER; fi
            # shellcheck disable=SC2086
            "$fathom" run "$job" --record="$output/$side-$rounds.json" ${FATHOM_OPTIONS:-} >>"$output/report.txt"
        done
        before="$before${before:+,}$output/before-$rounds.json"
        after="$after${after:+,}$output/after-$rounds.json"
        rounds=$((rounds - 1))
    done
fi

set -- "${before:-$output/before.json}" "${after:-$output/after.json}" --tolerance="${FATHOM_TOLERANCE:-5%}"
if [ -n "${FATHOM_METRICS:-}" ]; then set -- "$@" --metrics="$FATHOM_METRICS"; fi
code=0
"$fathom" compare "$@" --markdown --junit="$output/junit.xml" >"$output/comparison.md" || code=$?
cat "$output/comparison.md"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$output/comparison.md" >>"$GITHUB_STEP_SUMMARY"; fi
exit "$code"
