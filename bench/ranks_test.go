package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRanks_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{"-r", "0"}, {"-n", "8"}, {"-n", "two"}, {"-b", "x"}, {"-x"}, {"4x224"}} {
		if text, code := script(t, "bash", "", append([]string{"ranks.sh"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
	}
}

// Ratios compare measurements of one round, so that a machine that slows down changes none of them.
func TestRanksTable_RatiosArePaired(t *testing.T) {
	figures := filepath.Join(t.TempDir(), "figures.jsonl")
	var lines strings.Builder
	for round, slow := range []int{1, 5, 2} {
		for who, step := range map[string]int{"nmn": 100, "nmn-2": 125, "apart-2": 110, "torch-nchw": 400, "torch-nhwc": 300,
			"ddp-2-nchw": 500,
			"ddp-2-nhwc": 600} {
			fmt.Fprintf(&lines,
				`{"who": %q, "round": %d, "step_ms": %d, "step_cpu_ms": %d, "peak_memory_mib": 10, "sums_ms": 7}`+"\n",
				who, round+1, step*slow, 2*step)
		}
	}
	write(t, figures, lines.String())
	wantLines(t, python(t, "", "ranks_table.py", "table", figures),
		"| nmn, one process × 2 threads | 200 (100 to 500) | 1.00 | 200 (200 to 200) | 1.00 | 7 (7 to 7) | 10 | 0.33, 0.33 |",
		"| nmn, 2 ranks × 1 thread | 250 (125 to 625) | 0.80 | 250 (250 to 250) | 1.25 | 7 (7 to 7) | 10 | 0.25, 0.25 |",
		"| nmn, 2 processes apart × 1 thread | 220 (110 to 550) | 0.91 | 220 (220 to 220) | 1.10 | 7 (7 to 7) | 10 |  |",
		"| PyTorch, one process × 2 threads, nhwc | 600 (300 to 1500) | 1.00 | 600 (600 to 600) | 1.00 | 7 (7 to 7) | 10 |  "+
			"|",
		"| PyTorch DDP, 2 ranks × 1 thread, nchw | 1000 (500 to 2500) | 0.60 | 1000 (1000 to 1000) | 1.67 | 7 (7 to 7) | 10 "+
			"|  |")
}

// The peer's ranks make steps over Gloo, also where bags do not divide evenly. NMN_PYTHON names a Python that has
// torch.
func TestPyTorch_RanksMakeSteps(t *testing.T) {
	python := os.Getenv("NMN_PYTHON")
	if python == "" || exec.Command(python, "-c", "import torch.distributed").Run() != nil {
		t.Skip("NMN_PYTHON names no Python with torch")
	}
	cmd := exec.Command(python, "ddp_torch.py", "--ranks", "2", "--model", "scenes", "--width", "0.1", "--batch", "3",
		"--warmup",
		"1", "--repeats", "1")
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "OMP_NUM_THREADS=1")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"rank_memory_mib": [`) {
		t.Errorf("%v: %s", err, out)
	}
}
