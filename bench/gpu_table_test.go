package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// steps is a run's log whose step i has the loss and the time of one.
func steps(n int, loss func(i int) float64) string {
	var b strings.Builder
	b.WriteString(`{"msg":"begin"}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, `{"msg":"step","loss":%v,"step_ms":20,"data_wait_ms":1,"images_per_s":200}`+"\n", loss(i))
	}
	return b.String()
}

func TestGPUTable_TellsWhatWasMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts tens of processes")
	}
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("cpu.log"), steps(20, func(i int) float64 { return float64(100 - i) }))
	write(t, at("gpu.log"), steps(20, func(i int) float64 { return float64(100-i) * (1 + .001*float64(i)) }))
	write(t, at("dmon"),
		"# gpu sm\n    0      0      0\n    0     90     10\n    0     70     10\n    0      0      0\n")
	write(t, at("ncu.csv"),
		"==PROF==\n"+`"Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum",`+
			`"dram__throughput.avg.pct_of_peak_sustained_elapsed","sm__throughput.avg.pct_of_peak_sustained_elapsed"`+
			"\n"+
			`"","us","Mbyte","Kbyte","%","%"`+"\n"+`"sgd","1,000","2,000","500000","80","10"`+"\n"+
			`"sgd","1,000","2,000","500000","60","30"`+"\n")
	write(t, at("ops.json"), `{"frames": 26, "size": 565, "precision": "bf16", "total_ms": 30, "ops": [
		{"layer": "conv1_1", "pass": "forward", "ms": 20, "gflop": 1, "bytes": 1, "reached": 0.4, "algorithm": "engine 7"},
		{"layer": "host", "pass": "upload", "ms": 5, "bytes": 1},
		{"layer": "noise", "pass": "noise step", "ms": 2, "bytes": 1000000000},
		{"layer": "all", "pass": "sgd", "ms": 3, "bytes": 3000000000, "reached": 0.5}]}`)
	write(t, at("parts.txt"), "# v1-2-gabc, a card\nfacts: ran (1 s of 40)\n")
	figures := at("figures.jsonl")
	write(t, figures, `{"case": "copy", "who": "nmn", "gb_per_s": 2000, "device": "a card"}
{"case": "1x26x565 bf16", "who": "nmn", "round": 1, "step_ms": 40, "images_per_s": 650, "gflops": 450000, "device_memory_mib": 9000}
{"case": "1x26x565 bf16", "who": "nmn", "round": 2, "step_ms": 44, "images_per_s": 590, "gflops": 410000, "device_memory_mib": 9000}
{"case": "1x26x565 bf16", "who": "nmn", "round": 3, "step_ms": 36, "images_per_s": 720, "gflops": 500000, "device_memory_mib": 9000}
{"case": "captioner", "who": "nmn", "round": 1, "batch": 32, "frames": 26, "step_ms": 8.25}
{"case": "first start", "who": "nmn", "step_ms": 99, "wall_s": 14.25}
{"case": "tests engine", "who": "nmn", "round": 0, "passed": 1, "failed": 0, "skipped": 0, "cut": true, "code": 124, "wall_s": 60.2}
{"case": "1x26x5
{"case": "1x26x565 bf16", "who": "eager", "step_ms": 60, "peak_memory_mib": 12000, "peer": "pytorch 2"}
{"case": "1x26x565 bf16", "who": "compiled", "step_ms": 50, "peak_memory_mib": 11000}
{"case": "32x224 tf32", "who": "eager", "step_ms": 9, "peak_memory_mib": 10}
{"case": "noise step", "who": "compiled", "ms": 4}
`)
	python(t, "", "gpu_table.py", "curve", figures, "bf16", at("cpu.log"), at("gpu.log"))
	python(t, "", "gpu_table.py", "idle", figures, at("gpu.log"), at("dmon"))
	python(t, "", "gpu_table.py", "ncu", figures, at("ncu.csv"))
	python(t, "=== RUN   TestA\n--- FAIL: TestA (1.00s)\n    --- PASS: TestA/b (0.10s)\n    --- FAIL: TestA/c (0.10s)\n"+
		"--- PASS: TestD (0.00s)\n--- SKIP: TestE (0.00s)\n", "gpu_table.py", "suite", figures, "kernels", "1", "3.5")
	python(t, "========= COMPUTE-SANITIZER\n========= Invalid __global__ write of size 4 bytes\n=========     at "+
		"sgd+0x10\n========= ERROR SUMMARY: 2 errors\n", "gpu_table.py", "sanitizer", figures, "memcheck", "9", "3.5")
	python(t, "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
		"gpu_table.py", "sanitizer", figures, "racecheck", "0", "3.5")
	wantLines(t, python(t, "", "gpu_table.py", "table", dir),
		"On a card, commit v1-2-gabc, a card; pytorch 2.",
		"| 1x26x565 bf16 | 40 (36 to 44) | 650 | 450 | 9000 | 50, compiled | 11000 | **0.80** |",
		"| 32x224 tf32 | not measured |  |  |  | 9, eager | 10 |  |",
		"PyTorch at 1x26x565 bf16: compiled 50 ms; eager 60 ms.",
		"From the start of the program to its end, two steps of 1x26x565 in bf16, with no plan of a convolution chosen: "+
			"14.2 s.",
		"A step of the captioner, 32 clips of 26 frames: 8.25 ms.",
		"| forward | 20 | 8 | 0.05 |",
		"| **all** | 25 | 9.5 | 0.04 |",
		"| noise step | 1 | 2 | 500 | 25% |",
		"| sgd | 1 | 3 | 1000 | 50% |",
		"| conv1_1 | forward | 20 | 40% | engine 7 |",
		"Tests, engine: 1 passed, 0 failed, 0 skipped, cut off after 60 s.",
		"Tests, kernels: 2 passed, 1 failed, 1 skipped, exit code 1.",
		"compute-sanitizer, memcheck: 2 found, exit code 9: Invalid __global__ write of size 4 bytes.",
		"compute-sanitizer, racecheck: 0 found.",
		"Noise step: 2 ms, 4.00 times copying its bytes; PyTorch, compiled: 4 ms.",
		"Loss, bf16: 20 steps from 100 to 82.539 (CPU 81); the first 0.0e+00 apart, at most 1.9e-02.",
		"Training at 565 pixels: 200 pictures/s, 5.0% of the time waiting for pictures; "+
			"nvidia-smi saw the card idle for 20%.",
		"| sgd | 2 | 2000 | 2500 | 70 | 20 |",
		"- facts: ran (1 s of 40)")
	write(t, figures, `{"case": "captioner", "who": "nmn"}`+"\n")
	wantLines(t, python(t, "", "gpu_table.py", "table", dir), "print_steps has failed: KeyError('batch')",
		"- facts: ran (1 s of 40)")
	if out, code := script(t, "python3", "", "gpu_table.py", "curve", figures, "bf16", at("cpu.log"),
		at("parts.txt")); code == 0 {
		t.Errorf("logs of different lengths were compared: %s", out)
	}
}

func TestTable_FindsWhatWasMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: starts tens of processes")
	}
	t.Parallel()
	figures := filepath.Join(t.TempDir(), "figures.jsonl")
	write(t, figures, `{"case": "1x2 bf16", "who": "nmn", "round": 1, "step_ms": 3}
{"case": "gemm bf16 64", "who": "torch.mm", "round": 1, "size": 64, "ms": 3}
{"case": "tests nets", "who": "nmn", "round": 0}
{"case": "1x2 bf16", "who": "eager", "rou`) // killed while it was written
	python(t, `{"step_ms": 7}`, "table.py", "add", figures, "1x2 bf16", "compiled", "2", "1.25")
	for _, m := range []struct {
		measurement string
		want        int
	}{
		{"1x2 bf16,nmn,1", 0}, {"1x2 bf16,nmn,2", 1}, {"1x2 bf16,eager,1", 1}, {"1x2 bf16,compiled,2", 0},
		{"gemm bf16,torch.mm,1", 0}, {"gemm,torch.mm,1", 1}, {"tests nets,nmn,1", 1}, {"nothing,nmn,1", 1},
	} {
		if out, code := script(t, "python3", "", append([]string{"table.py", "has", figures},
			strings.Split(m.measurement, ",")...)...); code != m.want {
			t.Errorf("has %s: exit code %d, want %d: %s", m.measurement, code, m.want, out)
		}
	}
	python(t, `{"step_ms": 6}`, "table.py", "add", figures, "1x2 bf16", "eager", "1")
	wantLines(t, python(t, "", "table.py", "best", figures, "1x2 bf16", "step_ms"), "eager")
	if out, code := script(t, "python3", "", "table.py", "best", figures, "gemm bf16 64", "step_ms"); code != 1 {
		t.Errorf("the best of nothing: exit code %d: %s", code, out)
	}
}
