// Package bench holds scripts that measure nmn beside PyTorch; its tests run them without either.
package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script runs a script of this folder, with text as its standard input. Where its interpreter is missing
// the test is skipped.
func script(t *testing.T, interpreter, text string, args ...string) (out string, code int) {
	t.Helper()
	program, err := exec.LookPath(interpreter)
	if err != nil {
		t.Skipf("the script was not run: %v", err)
	}
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(text)
	// No card and no other tools: what the host has must not decide.
	tools := t.TempDir()
	for _, tool := range []string{"bash", "basename", "cat", "cut", "dirname", "grep", "head", "mkdir", "mktemp",
		"paste", "readlink", "rm", "sed",
		"tail", "tar", "tee", "gzip", "timeout", "touch", "python3", "cp", "env"} {
		if path, err := exec.LookPath(tool); err == nil {
			if err := os.Symlink(path, filepath.Join(tools, tool)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Env = append(os.Environ(), "PATH="+tools, "PYTHON="+pythonPath(), "OUT="+os.Getenv("OUT"),
		"PYTHONDONTWRITEBYTECODE=1")
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

func pythonPath() string {
	path, err := exec.LookPath("python3")
	if err != nil {
		return "python3"
	}
	return path
}

// python runs a script that must succeed.
func python(t *testing.T, text string, args ...string) string {
	t.Helper()
	out, code := script(t, "python3", text, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, out)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text+"\n", "\n"+line+"\n") {
			t.Errorf("no line %q in:\n%s", line, text)
		}
	}
}

func TestTable_RatioOfMediansToTheBetterLayout(t *testing.T) {
	figures := filepath.Join(t.TempDir(), "figures.jsonl")
	for round, step := range []int{100, 140, 120} {
		for who, factor := range map[string]int{"nmn": 1, "nchw": 3, "nhwc": 2} {
			python(t, fmt.Sprintf(`{"step_ms": %d, "peak_memory_mib": %d}`, step*factor, 1000+100*factor), "table.py",
				"add", figures, "4x224", who, fmt.Sprint(round+1))
		}
	}
	python(t, `{"products": [{"size": 64, "ms": 2.5}, {"size": 128, "ms": 20}]}`,
		"table.py", "add", figures, "gemm", "nmn", "1")
	python(t, `{"products": [{"size": 64, "ms": 5}]}`, "table.py", "add", figures, "gemm", "torch.mm", "1")
	wantLines(t, python(t, "", "table.py", "ratios", figures),
		"| 4x224 | step, ms | 120 (100 to 140) | 240 (200 to 280), nhwc | 0.50 |",
		"| 4x224 | peak memory, MiB | 1100 (1100 to 1100) | 1200 (1200 to 1200), nhwc | 0.92 |",
		"| gemm 64 | time, ms | 2.5 | 5, torch.mm | 0.50 |")
}

func TestTable_PicturesBesideTheBetterCanvas(t *testing.T) {
	figures := filepath.Join(t.TempDir(), "figures.jsonl")
	for who, ms := range map[string]float64{"nmn": 3, "float": 8, "uint8": 6} {
		python(t, fmt.Sprintf(`{"image_ms": %g, "images_per_s": %g}`, ms, 1000/ms), "table.py", "add", figures,
			"nmn, avx2", who, "1")
	}
	wantLines(t, python(t, "", "table.py", "ratios", figures), "| nmn, avx2 | a picture, ms | 3 | 6, uint8 | 0.50 |")
}

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
		{"layer": "conv1_1", "pass": "forward", "ms": 20, "gflop": 1, "bytes": 1},
		{"layer": "host", "pass": "upload", "ms": 5, "bytes": 1},
		{"layer": "noise", "pass": "noise step", "ms": 2, "bytes": 1000000000},
		{"layer": "all", "pass": "sgd", "ms": 3, "bytes": 3000000000}]}`)
	write(t, at("parts.txt"), "facts: ran (1 s)\n")
	figures := at("figures.jsonl")
	write(t, figures, `{"case": "copy", "who": "nmn", "gb_per_s": 2000, "device": "a card"}
{"case": "1x26x565 bf16", "who": "nmn", "step_ms": 40, "images_per_s": 650, "device_memory_mib": 9000}
{"case": "1x26x565 bf16", "who": "eager", "step_ms": 60, "peak_memory_mib": 12000, "peer": "pytorch 2"}
{"case": "1x26x565 bf16", "who": "compiled", "step_ms": 50, "peak_memory_mib": 11000}
{"case": "noise step", "who": "compiled", "ms": 4}
`)
	python(t, "", "gpu_table.py", "curve", figures, "bf16", at("cpu.log"), at("gpu.log"))
	python(t, "", "gpu_table.py", "idle", figures, at("gpu.log"), at("dmon"))
	python(t, "", "gpu_table.py", "ncu", figures, at("ncu.csv"))
	wantLines(t, python(t, "", "gpu_table.py", "table", dir),
		"On a card; pytorch 2.",
		"| 1x26x565 bf16 | 40 | 650 | 9000 | 50, compiled | 11000 | 0.80 |",
		"| 32x224 bf16 | not measured |  |  | not measured |  |  |",
		"| noise step | 1 | 2 | 500 | 25% |",
		"| sgd | 1 | 3 | 1000 | 50% |",
		"Noise step: 2 ms, 4.00 times copying its bytes; PyTorch, compiled: 4 ms.",
		"Loss, bf16: 20 steps from 100 to 82.539 (CPU 81); the first 0.0e+00 apart, at most 1.9e-02.",
		"Training at 565 pixels: 200 pictures/s, 5.0% of the time waiting for pictures; "+
			"nvidia-smi saw the card idle for 20%.",
		"| sgd | 2 | 2000 | 2500 | 70 | 20 |",
		"- facts: ran (1 s)")
	if out, code := script(t, "python3", "", "gpu_table.py", "curve", figures, "bf16", at("cpu.log"),
		at("parts.txt")); code == 0 {
		t.Errorf("logs of different lengths were compared: %s", out)
	}
}

// A host without a card: every part says why it is left out, and so does the exit code.
func TestGPU_WithoutACardLeavesEveryPartOut(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "bench"), os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(root, "out")
	t.Setenv("OUT", out)
	gpu := filepath.Join(root, "bench", "gpu.sh")
	if text, code := script(t, "bash", "", gpu); code != 3 ||
		strings.Count(text, ": left out: no nvidia-smi: no driver on this host") != 2*10 {
		t.Errorf("exit code %d: %s", code, text)
	}
	for _, name := range []string{"parts.txt", "table.md", "logs.tar.gz"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if text, code := script(t, "bash", "", gpu, "nonsense"); code != 2 ||
		!strings.Contains(text, "there is no part nonsense") {
		t.Errorf("an unknown part: exit code %d: %s", code, text)
	}
}

func TestStep_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{"5x5"}, {"-r", "0", "gemm"}, {"-x"}} {
		if text, code := script(t, "bash", "", append([]string{"step.sh"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
	}
}

func TestS2VT_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{"32x26"}, {"-r", "0"}, {"-t", "two"}, {"-x"}} {
		if text, code := script(t, "bash", "", append([]string{"s2vt.sh"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
	}
}

func TestLoad_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{}, {"nowhere"}, {"-r", "0", "."}, {"-s", "x", "."}, {"-z", "lanczos", "."}, {"-f", "none", "."}, {"-x"}} {
		if text, code := script(t, "bash", "", append([]string{"load.sh"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
	}
}

// Joints, flags, distances and scores of rows are those of cleanlab. NMN_PYTHON names a Python that has it.
func TestAuditRows_AreThoseOfCleanlab(t *testing.T) {
	python := os.Getenv("NMN_PYTHON")
	if python == "" || exec.Command(python, "-c", "import cleanlab, sklearn").Run() != nil {
		t.Skip("NMN_PYTHON names no Python with cleanlab and scikit-learn")
	}
	program := filepath.Join(t.TempDir(), "nmn")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/nmn").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(python, "audit_rows.py", program).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
