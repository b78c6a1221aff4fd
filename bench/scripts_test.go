// Package bench holds scripts that compare nmn with PyTorch. Its tests run the scripts without either.
package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"nmn/internal/expect"
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
	cmd.Env = append(os.Environ(), "PATH="+tools(t), "PYTHON="+pythonPath(), "OUT="+os.Getenv("OUT"),
		"PYTHONDONTWRITEBYTECODE=1")
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

// tools is a folder with the tools that scripts call, and no others, nor a card: what the host has must not decide.
func tools(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, tool := range []string{"bash", "basename", "cat", "cp", "cut", "date", "dirname", "env", "flock",
		"grep", "gzip",
		"head", "mkdir", "mktemp", "mv", "nproc", "paste", "python3", "readlink", "rm", "sed", "sleep", "tail", "tar", "tee",
		"timeout", "touch", "wc"} {
		path, err := exec.LookPath(tool)
		if tool == "python3" {
			path = pythonPath()
		}
		if err == nil {
			expect.OK(t, os.Symlink(path, filepath.Join(folder, tool)))
		}
	}
	return folder
}

// pythonPath is the interpreter itself: what stands on the PATH may be a script that looks for one.
var pythonPath = sync.OnceValue(func() string {
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "python3"
	}
	return strings.TrimSpace(string(path))
})

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
	expect.OK(t, os.WriteFile(path, []byte(text), 0o666))
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
	if testing.Short() {
		t.Skip("-short: starts tens of processes")
	}
	t.Parallel()
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
	if testing.Short() {
		t.Skip("-short: starts tens of processes")
	}
	t.Parallel()
	figures := filepath.Join(t.TempDir(), "figures.jsonl")
	for who, ms := range map[string]float64{"nmn": 3, "float": 8, "uint8": 6} {
		python(t, fmt.Sprintf(`{"image_ms": %g, "images_per_s": %g}`, ms, 1000/ms), "table.py", "add", figures,
			"nmn, avx2", who, "1")
	}
	wantLines(t, python(t, "", "table.py", "ratios", figures), "| nmn, avx2 | a picture, ms | 3 | 6, uint8 | 0.50 |")
}

func TestStep_RefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{{"5x5"}, {"vit-s14"}, {"-r", "0", "gemm"}, {"-x"}} {
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
	for _, args := range [][]string{{}, {"nowhere"}, {"-r", "0", "."}, {"-s", "x", "."}, {"-z", "lanczos", "."},
		{"-f", "none", "."}, {"-x"}} {
		if text, code := script(t, "bash", "", append([]string{"load.sh"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d: %s", args, code, text)
		}
	}
}

// Joints, flags, distances and scores of rows equal the results of cleanlab. NMN_PYTHON names a Python that
// has it.
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

// The networks that nmn is compared with compute the same: they give the golden numbers of loss and gradients, and a
// step runs, with and without its norm. NMN_PYTHON names a Python that has torch.
func TestPyTorch_ComputesTheSameLossAndGradients(t *testing.T) {
	python := os.Getenv("NMN_PYTHON")
	if python == "" || exec.Command(python, "-c", "import torch").Run() != nil {
		t.Skip("NMN_PYTHON names no Python with torch")
	}
	run := func(args ...string) string {
		cmd := exec.Command(python, args...)
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v:\n%s", args, err, out)
		}
		return string(out)
	}
	t.Log(run("torch_check.py", "../tools/conform/testdata/oracle"))
	step := run("torch_step.py", "--model", "scenes", "--width", "0.1", "--batch", "2", "--frames", "2",
		"--precision", "bf16",
		"--norm", "--warmup", "0", "--repeats", "1")
	resnet := run("torch_step.py", "--model", "resnet50", "--width", "0.1", "--batch", "1", "--size", "64",
		"--norms", "frozen", "--norm", "--warmup", "0", "--repeats", "1")
	if !strings.Contains(resnet, `"norms": "frozen"`) {
		t.Errorf("a residual net: %s", resnet)
	}
	var figures struct {
		StepMS float64 `json:"step_ms"`
		Loss   float64
		Norm   float64 `json:"gradient_norm"`
	}
	if err := json.Unmarshal([]byte(step[strings.LastIndex(strings.TrimSpace(step), "\n")+1:]), &figures); err != nil {
		t.Fatalf("%v: %s", err, step)
	}
	if figures.StepMS <= 0 || figures.Loss <= 0 || figures.Norm <= 0 {
		t.Errorf("figures %+v", figures)
	}
}
