#!/usr/bin/env bash
# Trains the recipe of cross-fitting and the paper's plain form on Mulan's features, and compares every figure
# with the bands in docs/background/acceptance.md.
#
#   NMN_DATA=FOLDER bench/acceptance.sh [-s SEEDS] [-o OUT] [NAME]
#
# NAME is a data set of Mulan. The default, scene, is the only one with bands. FOLDER/mulan holds
# NAME-train.arff.gz, NAME-test.arff.gz (or NAME-train-sparse.arff.gz and so on) and NAME.xml. The defaults are
# 1,2,3,4,5,6,7,8 for SEEDS and build/acceptance/NAME for OUT. Complete runs in OUT are not trained again. NMN
# names the program. By default it is built from this checkout. The table is printed as Markdown and stored in
# OUT/acceptance.md.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=1,2,3,4,5,6,7,8 out=
usage() { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' bench/acceptance.sh; }
while getopts s:o:h flag; do
  case $flag in
    s) seeds=$OPTARG ;;
    o) out=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
name=${1:-scene}
out=${out:-build/acceptance/$name}
folder=${NMN_DATA:?names no folder with data}/mulan
suffix=
[ -e "$folder/$name-train-sparse.arff.gz" ] && suffix=-sparse
if [ ! -e "$folder/$name-train$suffix.arff.gz" ]; then
  echo "acceptance.sh: there is no data set $name in $folder" >&2
  exit 2
fi
if [ -z "${NMN:-}" ]; then
  NMN=build/nmn
  go build -o "$NMN" ./cmd/nmn
fi

"$NMN" experiment -q --run-dir "$out" --set "data.features.train.features=$folder/$name-train$suffix.arff.gz" --labels "$folder/$name.xml" \
  --set "data.features.test.features=$folder/$name-test$suffix.arff.gz" --set data.validation_share=0 --flips 0.3:0.1,0.4:0,0:0.2,0:0 --seeds "$seeds" \
  --set 'net.hidden=[256, 256]' --set net.dropout=0.5 --batch-size 64 --learning-rate 0.001 --set train.patience=0 \
  --set recipe.form=estimate --set noise_rates=folds:5 --set recipe.fold_epochs=15 --arms stage1,baseline,nmn-fi,held-rates,soft-labels --set train.stage2_epochs=12 --set recipe.epochs=12 \
  --set 'train.noise.miss_rate=[0.036]' --set 'train.noise.false_rate=[0.036]' --set train.noise.weight_multiplier=1 --set train.noise.bias_multiplier=1 --set each_epoch=true >/dev/null

# The audit by |z - p| of the scores of nets without a noise model, and by the posterior of the other nets.
for recipe in "$out"/flips-*/seed-*/recipe; do
  case $recipe in */flips-0-0/*) continue ;; esac
  files=(--logits --labels "$recipe/labels.csv" --truth "$recipe/truth.csv" --top 0 --json)
  "$NMN" audit --scores "$recipe/oof.csv" "${files[@]}" >"${recipe%/recipe}/audit-oof.json"
  "$NMN" audit --scores "$recipe/oof-noise.csv" --noise-rates "$recipe/rates.csv" "${files[@]}" >"${recipe%/recipe}/audit-noise.json"
done
python3 bench/acceptance.py "$out" "$name" "$seeds" | tee "$out/acceptance.md"
