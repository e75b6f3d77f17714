#!/bin/sh
# A start of the campaign digits. Made by `lastro export shell` from campaign.yaml; made again and
# not edited: `lastro export shell --check` compares it.
#
# Use, in the folder of the campaign file:
#   sh export/shell/start.sh RUN
#   where RUN is one of: control, shift, wide
#   LASTRO_SOURCE=FOLDER before it where no index has lastro, which the job imports
#
# Pinned:
#   requirements.txt, 1 of its lines left open
#   nothing by lastro.lock: there is none beside the campaign file
#
# Not pinned, so it can change from day to day:
#   Python
#   the package numpy
#   what the packages need in turn
#   CUDA
#   cuDNN
#   the driver
#
# Of one provider only, and what to do elsewhere:
#   disk: ./disk -> set STATE to a folder that outlives the machine; what lies on this disk has to
#     be copied there
#   corpus: data/digits.npz -> it is no part of the code: bring it there before the first start
#   offer rtx4090-3-days: a lot, which ends with its term -> nothing here ends with it
#
# Lost without lastro:
#   restart decisions: a run that dies is started again by you; nobody asks whether it makes
#     progress
#   fencing: start no run twice at the same time; nothing forbids it
#   the guard: what of value lies beside STATE goes with the machine, and nobody says so
#   caches on the disk: models and packages are fetched again, unless you point their variables
#     there
#   limits (budget, window): nothing ends at them
#   stop rules that nobody judges: truncated_input
#   stop rules that the job still judges itself: non_finite, floor, no_usable_resume
#   the checks of a machine (preflight), the journal and its costs, reloading outputs, the
#     conclusion

set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
run=${1:-control}

# --- the runs: control and variants, each with its configuration
case "$run" in
    control)
        set -- python train.py --width 64 --shift 0 --epochs 12
        order='"run":"control","name":"control","command":["control"],"config":{"width":64,"shift":0,"epochs":12}'
        ;;
    shift)
        set -- python train.py --width 64 --shift 1 --epochs 12
        order='"run":"shift","name":"shift","command":["shift"],"config":{"width":64,"shift":1,"epochs":12}'
        ;;
    wide)
        set -- python train.py --width 256 --shift 0 --epochs 12
        order='"run":"wide","name":"wide","command":["wide"],"config":{"width":256,"shift":0,"epochs":12}'
        ;;
    *) echo "error: there is no run $run; known are: control, shift, wide" >&2; exit 2 ;;
esac

[ -f "$root/campaign.yaml" ] || { echo "error: there is no campaign.yaml in $root" >&2; exit 2; }

# What outlives the machine: outputs, checkpoints, the code as it was begun with, the environment.
STATE=${STATE:-$root/disk/exported}
case $STATE in /*) ;; *) STATE=$(pwd)/$STATE ;; esac
mine=$STATE/campaigns/digits/runs/$run
work=$mine/work
mkdir -p "$mine"

# --- the working folder: a copy of the code, so that two runs never write over each other
commit=$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)
if [ ! -d "$work" ]; then
    case $STATE in "$root"/*) state=${STATE#"$root"/} ;; *) state=.git ;; esac
    rm -rf "$work.new"
    mkdir "$work.new"
    (
        cd "$root"
        tar -cf "$mine/code.tar" --exclude="./$state" \
            --exclude=./.git --exclude='.venv*' --exclude=.env --exclude=__pycache__ --exclude=./disk --exclude=./data/digits.npz .
    )
    (cd "$work.new" && tar -xf "$mine/code.tar")
    rm "$mine/code.tar"
    corpus=data/digits.npz
    [ -e "$root/$corpus" ] || { echo "error: the corpus $corpus is not in $root" >&2; exit 2; }
    mkdir -p "$work.new/$(dirname -- "$corpus")"
    ln -s "$root/$corpus" "$work.new/$corpus" 2>/dev/null || cp -R "$root/$corpus" "$work.new/$corpus"
    echo "$commit" >"$mine/commit"
    mv "$work.new" "$work"
fi
if [ "$commit" != "$(cat "$mine/commit")" ]; then
    echo "error: the run $run was begun with commit $(cat "$mine/commit"), and this is $commit" >&2
    echo "  next: STATE=another/folder begins anew, or go back to that commit" >&2
    exit 2
fi
cd "$work"

# --- the environment. PREPARED=1: it is there already, and first on PATH
if [ -z "${PREPARED:-}" ]; then
    VENV=${VENV:-$STATE/venv}
    PYTHON=${PYTHON:-$(command -v python3 || command -v python || echo python3)}
    mkdir -p "$(dirname -- "$VENV")"
    # Several runs may begin at once, and one of them makes it.
    exec 9>"$VENV.lock"
    if command -v flock >/dev/null; then flock 9; fi
    if [ ! -e "$VENV/.ready-6cde193a" ]; then
        "$PYTHON" -m venv "$VENV"
        PATH=$VENV/bin:$PATH
        python -m pip --disable-pip-version-check install --requirement requirements.txt
        python -m pip --disable-pip-version-check install "${LASTRO_SOURCE:-lastro==0.1.0}"
        : >"$VENV/.ready-6cde193a"
    fi
    PATH=$VENV/bin:$PATH
    export PATH
    exec 9>&-
fi

[ "${ONLY:-}" != environment ] || exit 0

# --- what lastro in the job reads, which is there as a library only: seed, stop rules, when to save
escaped() { printf '%s' "$1" | sed 's/[\\"]/\\&/g'; }
number=1
while [ -e "$mine/attempts/$number" ]; do number=$((number + 1)); done
LASTRO_ATTEMPT=$mine/attempts/$number
export LASTRO_ATTEMPT
mkdir -p "$mine/attempts"
mkdir "$LASTRO_ATTEMPT"
{
    printf '{"number": %s, "token": "exported-%s", ' "$number" "$number"
    printf '"claimed_at": "%s", "committed_step": null, ' "$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)"
    printf '"order": {"workdir": "%s", ' "$(escaped "$work")"
    printf '"campaign_folder": "%s", ' "$(escaped "$STATE/campaigns/digits")"
    printf '%s, ' "$order"
    cat <<'ORDER'
"campaign":"digits","seed":0,"resume":"training","machine":"exported","node":"exported","home_stream":"","home_head":"","outputs":["predictions.csv","model.safetensors"],"stop":[{"metric":"loss","kind":"non_finite"},{"metric":"accuracy","below":0.2,"after_steps":200,"kind":"floor"},{"kind":"no_usable_resume"}],"checkpoint":{"every_steps":25}}}
ORDER
} >"$LASTRO_ATTEMPT/attempt.json"

# --- the job. A notice (TERM INT HUP) is handed on as TERM, so that it can save
LASTRO_OUTPUTS=$mine/outputs LASTRO_CHECKPOINTS=$mine/checkpoints LASTRO_RUN=$run PYTHONUNBUFFERED=1
export LASTRO_OUTPUTS LASTRO_CHECKPOINTS LASTRO_RUN PYTHONUNBUFFERED
mkdir -p "$LASTRO_OUTPUTS" "$LASTRO_CHECKPOINTS"
job=
told=
trap 'told=1; [ -z "$job" ] || kill -TERM "$job" 2>/dev/null || :' TERM INT HUP
"$@" &
job=$!
[ -z "$told" ] || kill -TERM "$job" 2>/dev/null || :
code=0
wait "$job" || code=$?
# A wait that a notice has ended is no end of the job.
while [ -n "$told" ]; do
    told=
    wait "$job" && again=0 || again=$?
    [ "$again" = 127 ] || code=$again
done
case $code in
    0) echo "$run is done; its outputs: $LASTRO_OUTPUTS" ;;
    85) echo "$run has saved on request; the same line again goes on" ;;
    *) echo "$run ended with code $code; the same line again tries to go on" >&2 ;;
esac
exit "$code"
# seal: cf558961b3757871
