#!/usr/bin/env bash
# Trains on scenes, starts a real Prometheus with the configuration of this folder, and runs every query of the
# dashboard. Each must return data. Needs Go, prometheus, promtool and python3.
set -euo pipefail
cd "$(dirname "$0")/.."
metrics=127.0.0.1:${METRICS_PORT:-19090} prometheus=127.0.0.1:${PROMETHEUS_PORT:-19091}
folder=$(mktemp -d)
pids=()
cleanup() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap cleanup EXIT

promtool check config docker/prometheus.yml
promtool test rules docker/rules.test.yml
go build -o "$folder/nmn" ./cmd/nmn
# One training picture cannot be read, so that bad samples are counted.
"$folder/nmn" scenes --number 640 "$folder/scenes" >/dev/null
picture=$(find "$folder/scenes/images" -type f | sort | tail -1)
: >"$picture"
"$folder/nmn" train --preset scenes "$folder"/scenes/captions_*.json --images "$folder/scenes/images" --vocab "$folder/scenes/vocabulary.txt" \
  --noise 0.4 --arm nmn-fd --epochs 500 --set train.evaluate_steps=20 --max-bad-samples 1 --metrics-addr "$metrics" --run-dir "$folder/run" >"$folder/train.log" 2>&1 &
pids+=($!)
cp docker/rules.yml "$folder"
sed "s/training:9090/$metrics/" docker/prometheus.yml >"$folder/prometheus.yml"
prometheus --config.file="$folder/prometheus.yml" --storage.tsdb.path="$folder/data" --web.listen-address="$prometheus" >"$folder/prometheus.log" 2>&1 &
pids+=($!)
echo "training for ${SECONDS_OF_TRAINING:=60} s"
sleep "$SECONDS_OF_TRAINING"
kill -0 "${pids[0]}" || { tail -5 "$folder/train.log"; exit 1; }

# The dashboard's variables are filled in as Grafana does. Each line is a panel and its query.
python3 - docker/grafana/dashboards/training.json >"$folder/queries" <<'PYTHON'
import json, sys
for panel in json.load(open(sys.argv[1]))["panels"]:
    for target in panel.get("targets", []):
        expression = target["expr"].replace("$instance", ".*").replace("$__rate_interval", "20s")
        print(panel["title"], expression, sep="\t")
PYTHON
failed=0
while IFS=$'\t' read -r title expression; do
  if answer=$(promtool query instant "http://$prometheus" "$expression") && [ -n "$answer" ]; then
    printf '%-44s %s\n' "$title" "$(head -1 <<<"$answer" | sed 's/.*=> *//; s/ @.*//')"
  else
    printf '%-44s NO DATA: %s\n' "$title" "$expression"
    failed=1
  fi
done <"$folder/queries"
[ -n "$(promtool query instant "http://$prometheus" 'up{job="nmn"} == 1')" ] || failed=1
exit $failed
