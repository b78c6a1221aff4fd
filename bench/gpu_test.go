package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nmn/internal/expect"
)

// cardHost is a host with a card for bench/gpu.sh: programs that take the place of all that it calls answer at once.
type cardHost struct {
	t               *testing.T
	root, out, path string
	env             []string
}

// fakeHold makes a measurement wait until gpu.sh is killed, once there are FAKE_HOLD others.
const fakeHold = `hold() {
  [ "$(wc -l <"$OUT/figures.jsonl")" -lt "$FAKE_HOLD" ] || while kill -0 "$MAIN" 2>/dev/null; do sleep .05; done
}
`

const fakeNmn = fakeHold + `[ "$1" != bench ] || hold
what="$1 ${2:-}"
case "$*" in *"--mib 0"*) what="bench gemm" ;; *--mib*) what="bench copy" ;; esac
case "$what" in
"$FAKE_HANG") sleep 86400 ;;
"$FAKE_FAIL") echo "nmn: no" >&2; exit 1 ;;
esac
case "$what" in
"bench step") echo '{"device": "a card", "step_ms": 40, "images_per_s": 650, "device_memory_mib": 9000}' ;;
"bench copy") echo '{"copy": {"gb_per_s": 3000}}' ;;
"bench gemm") echo '{"products": [{"size": 8, "ms": 1, "gflops": 5}]}' ;;
"bench ops") echo '{"frames": 26, "size": 565, "precision": "bf16", "total_ms": 1, "ops": []}' ;;
"train "*) while [ $# -gt 1 ]; do [ "$1" != --run-dir ] || folder=$2; shift; done
  mkdir -p "$folder"
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo '{"msg": "step", "loss": 3, "step_ms": 20, "data_wait_ms": 1, "images_per_s": 200}'
  done >"$folder/log.jsonl" ;;
esac
`

// Two ranks on one card are refused.
const fakeRanks = `case "$*" in
*TwoRanks*) echo '    card_test.go:1: NCCL refuses 2 ranks on one card: it says so' ;;
*) echo '{"device": "a card", "nccl": "2.30.7", "ranks": 1, "mib": 256, "ms": 0.5, "us_small": 9, "gb_per_s": 500}' >"$NMN_RANKS_FIGURES" ;;
esac
`

const fakePython = fakeHold + `case "$*" in
*"gpu_table.py table"*) for file in "$OUT"/*; do [ -d "$file" ] || echo "${file##*/}"; done >>"$OUT.files" ;;
esac
case "$*" in
*torch_step.py*|*torch_machine.py*) hold ;;
esac
case "$*" in
*torch_step.py*--compile) echo '{"step_ms": 50, "peer": "pytorch"}' ;;
*torch_step.py*|*torch_machine.py*) echo '{"step_ms": 60, "ms": 5, "gb_per_s": 9, "gflops": 9, "peer": "pytorch"}' ;;
*"import torch"*) [ -z "$FAKE_NO_TORCH" ] || { echo "No module named torch" >&2; exit 1; }; echo "torch 2" ;;
*) exec python3 -S "$@" ;; # without packages it starts in a third of the time
esac
`

// hours are limits that no busy machine reaches.
const hours = "facts=3600 warmup=3600 headline=3600 tests=3600 ops=3600 machine=3600 shapes=3600 curves=3600 " +
	"idle=3600 ranks=3600 profile=3600 sanitizer=3600 large=3600"

func newCardHost(t *testing.T, env ...string) *cardHost {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: runs bench/gpu.sh, which starts hundreds of processes")
	}
	path, root := tools(t), t.TempDir()
	for _, tool := range []string{"bash", "python3", "timeout", "flock", "setsid"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the script was not run: %v", err)
		}
	}
	expect.OK(t, os.CopyFS(filepath.Join(root, "bench"), os.DirFS(".")))
	h := &cardHost{t, root, filepath.Join(root, "out"), path, append(os.Environ(), "TMPDIR="+t.TempDir(), "PATH="+path,
		"OUT="+filepath.Join(root, "out"), "PYTHON="+filepath.Join(root, "python"), "PYTHONDONTWRITEBYTECODE=1",
		"FAKE_HANG=none", "FAKE_FAIL=none",
		"FAKE_HOLD=1000", "GPU_TOOLS=", "FAKE_NO_TORCH=", "REHEARSAL=", "TOTAL=36000", "LIMITS="+hours, "CACHE=")}
	h.env = append(h.env, env...)
	h.program("nmn", fakeNmn)
	h.program("python", fakePython)
	for _, name := range []string{"cuda/cuda", "cuda/cudnn/cudnn", "kernels/kernels", "model/model", "train/train"} {
		h.program(name+".test", "echo '--- PASS: TestIt (0.00s)'\n")
	}
	h.program("cuda/nccl/nccl.test", fakeRanks)
	write(t, filepath.Join(root, "commit"), "v1\n")
	write(t, filepath.Join(root, "kernels.txt"), "sgd\n")
	expect.OK(t, os.Symlink(filepath.Join(root, "nvidia-smi"), filepath.Join(path, "nvidia-smi")))
	h.program("nvidia-smi", `if [ "$1" = -L ]; then echo "GPU 0: a card"; else echo "a card"; fi`+"\n")
	return h
}

func (h *cardHost) program(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		h.t.Fatal(err)
	}
	write(h.t, path, "#!/usr/bin/env bash\n"+text)
	if err := os.Chmod(path, 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// started is a script that has been started.
type started struct {
	*exec.Cmd
	h     *cardHost
	out   string // file that it writes to
	ended chan struct{}
	err   error // from Wait, once ended is closed
}

func (h *cardHost) start(args ...string) *started {
	h.t.Helper()
	cmd := exec.Command("bash", append([]string{filepath.Join(h.root, "bench", "gpu.sh")}, args...)...)
	out, err := os.Create(filepath.Join(h.t.TempDir(), "output")) // what a killed script leaves would hold a pipe open
	if err != nil {
		h.t.Fatal(err)
	}
	defer out.Close()
	cmd.Env, cmd.Stdout, cmd.Stderr = h.env, out, out
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	s := &started{Cmd: cmd, h: h, out: out.Name(), ended: make(chan struct{})}
	go func() {
		s.err = cmd.Wait()
		close(s.ended)
	}()
	return s
}

// wait waits for the end of the script and returns its output and its exit code, or its signal below 0.
func (s *started) wait() (string, int) {
	s.h.t.Helper()
	<-s.ended
	out, err := os.ReadFile(s.out)
	if err != nil || s.err != nil && !errors.As(s.err, new(*exec.ExitError)) {
		s.h.t.Fatal(err, s.err)
	}
	if status := s.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return string(out), -int(status.Signal())
	}
	return string(out), s.ProcessState.ExitCode()
}

// await waits until something has happened. The test fails if the script ends first.
func (s *started) await(what string, happened func() bool) {
	s.h.t.Helper()
	for !happened() {
		select {
		case <-s.ended:
			out, code := s.wait()
			s.h.t.Fatalf("exit code %d before %s: %s\n%s", code, what, out, s.h.read("log.txt"))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// figures counts the lines of measurements.
func (h *cardHost) figures() int {
	h.t.Helper()
	return strings.Count(h.read("figures.jsonl"), "\n")
}

// free waits until the processes that a killed script has left have ended.
func (h *cardHost) free() {
	h.t.Helper()
	cmd := exec.Command("bash", "-c", `exec 9<"$1"; flock 9`, "bash", h.out)
	cmd.Env = h.env
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%v: %s", err, out)
	}
}

func (h *cardHost) run(want int, args ...string) string {
	h.t.Helper()
	out, code := h.start(args...).wait()
	if code != want {
		h.t.Fatalf("%v: exit code %d, want %d: %s\n%s", args, code, want, out, h.read("log.txt"))
	}
	return out
}

func (h *cardHost) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.out, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	return string(text)
}

// measured counts measurements by case, who and round. All lines must be whole.
func (h *cardHost) measured() map[string]int {
	h.t.Helper()
	count := map[string]int{}
	for line := range strings.Lines(h.read("figures.jsonl")) {
		var m struct {
			Case, Who string
			Round     int
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			h.t.Errorf("figures.jsonl has the line %q: %v", line, err)
		}
		count[fmt.Sprint(m.Case, ", ", m.Who, " ", m.Round)]++
	}
	return count
}

// A host without a card: every part says why it is left out, and so does the exit code.
func TestGPU_WithoutACardLeavesEveryPartOut(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	h.program("nvidia-smi", "echo 'No devices were found' >&2; exit 6\n")
	out := h.run(3)
	if strings.Count(out, ": left out: nvidia-smi sees no card: No devices were found") != 2*13 {
		t.Error(out)
	}
	for _, name := range []string{"parts.txt", "table.md", "log.txt"} {
		if h.read(name) == "" {
			t.Errorf("there is no %s", name)
		}
	}
	for _, args := range [][]string{{"nonsense"}, {"--resume", "nonsense"}, {"--nonsense"}} {
		if out := h.run(2, args...); !strings.Contains(out, "there is no part") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// Tools of a driver may be outside the PATH. Without nvidia-smi nmn itself looks for a card.
func TestGPU_FindsACardWithoutNvidiaSMIOnThePath(t *testing.T) {
	t.Parallel()
	h := newCardHost(t, "GPU_TOOLS=none", "FAKE_FAIL=bench copy")
	expect.OK(t, os.Remove(filepath.Join(h.path, "nvidia-smi")))
	want := "ops: left out: there is no nvidia-smi, and nmn opens no card: nmn: no ("
	if out := h.run(3, "ops"); !strings.Contains(out, want) {
		t.Errorf("no %q in %s", want, out)
	}
	h.env = append(h.env, "GPU_TOOLS=none "+h.root) // which has one
	if out := h.run(0, "ops"); !strings.Contains(out, "ops: ran (") || !strings.Contains(h.read("parts.txt"), "a card") {
		t.Error(out)
	}
	h.env = append(h.env, "GPU_TOOLS=none", "FAKE_FAIL=none")
	if out := h.run(0, "ops"); !strings.Contains(out, "ops: ran (") {
		t.Error(out)
	}
}

// The libraries of the given Python are used, although nmn looks in another environment.
func TestGPU_TakesTheLibrariesOfItsPython(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	packages := filepath.Join(h.root, "site-packages")
	h.env = append(h.env, "PYTHONPATH="+packages, "NMN_LIBCUDNN=", "NMN_LIBNCCL=/opt/nccl")
	for _, name := range []string{"cudnn", "nccl"} {
		h.program("site-packages/nvidia/"+name+"/__init__.py", "")
	}
	h.program("cuda/cudnn/cudnn.test", `echo "cuDNN in $NMN_LIBCUDNN, NCCL in $NMN_LIBNCCL"`+"\n")
	h.run(0, "facts")
	want := "cuDNN in " + filepath.Join(packages, "nvidia", "cudnn", "lib") + ", NCCL in /opt/nccl\n"
	log := h.read("log.txt")
	if !strings.Contains(log, want) {
		t.Errorf("no %q in %s", want, log)
	}
	if _, after, _ := strings.Cut(log, want); !strings.Contains(after, "torch 2\n") {
		t.Errorf("a slow import of PyTorch may cost the description of the card: %s", log)
	}
}

// A checkout on a host without Go takes the programs of a bundle.
func TestGPU_ACheckoutWithoutGoTakesTheBundle(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	bundle, build := filepath.Join(t.TempDir(), "nmn-gpu"), filepath.Join(h.root, "build")
	expect.OK(t, os.CopyFS(bundle, os.DirFS(h.root)))
	write(t, filepath.Join(h.root, "go.mod"), "module nmn\n")
	expect.OK(t, errors.Join(os.Remove(filepath.Join(h.root, "nmn")), os.Mkdir(build, 0o777)))
	if out := h.run(2, "ops"); !strings.Contains(out, "without Go a checkout needs build/nmn-gpu-bundle.tar.xz") {
		t.Error(out)
	}
	archive := filepath.Join(build, "nmn-gpu-bundle.tar.gz")
	tar := exec.Command("tar", "-C", filepath.Dir(bundle), "-czf", archive, "nmn-gpu")
	if out, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out := h.run(0, "ops"); !strings.Contains(out, "ops: ran (") {
		t.Error(out)
	}
}

func TestGPU_MeasuresTheHeadlineFirstAndByTurns(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	out := h.run(3, "facts", "warmup", "headline", "tests", "ops", "curves", "idle", "profile", "sanitizer")
	var order []string
	for line := range strings.Lines(h.read("figures.jsonl")) {
		if strings.Contains(line, `"case": "1x26x565 bf16"`) {
			_, who, _ := strings.Cut(line, `"who": `)
			order = append(order, strings.TrimRight(who, "}\n"))
		}
	}
	want :=
		`"nmn", "round": 1 "eager", "round": 1 "eager, one graph", "round": 1 "compiled", "round": 1 "compiled, graphs", ` +
			`"round": 1 "nmn", "round": 2 "compiled", "round": 2 "nmn", "round": 3 "compiled", "round": 3`
	if got := strings.Join(order, " "); got != want {
		t.Errorf("the headline was measured in the order %s, want %s", got, want)
	}
	for _, tool := range []string{"profile: left out: no ncu (Nsight Compute)",
		"sanitizer: left out: no compute-sanitizer"} {
		if !strings.Contains(out, "\n"+tool+" on the PATH (") { // the seconds of the query follow
			t.Errorf("no line %q in %s", tool, out)
		}
	}
	if got := strings.Count(out, ": ran ("); got != 2*7 {
		t.Errorf("%d parts ran: %s", got/2, out)
	}
	if !strings.Contains(out, "| 1x26x565 bf16 | 40 (40 to 40) | 650 |") || strings.Contains(out, " has failed: ") {
		t.Error(out)
	}
}

func TestGPU_WithoutPyTorchKeepsItsOwnFigures(t *testing.T) {
	t.Parallel()
	h := newCardHost(t, "FAKE_NO_TORCH=1")
	out := h.run(3, "headline")
	if !strings.Contains(out, "headline: left out: PyTorch's side: ") || !strings.Contains(out, "No module named torch") ||
		h.measured()["1x26x565 bf16, nmn 3"] != 1 {
		t.Error(out)
	}
}

func TestGPU_CutsWhatHangsAndTellsWhatFails(t *testing.T) {
	t.Parallel()
	h := newCardHost(t, "FAKE_HANG=bench ops", "FAKE_FAIL=bench gemm", "LIMITS="+hours+" ops=10")
	out := h.run(1, "ops", "machine", "facts")
	// The part itself has two seconds to say what it cut, before gpu.sh ends it.
	if !strings.Contains(out, "ops: not finished: cut: nmn bench ops (") &&
		!strings.Contains(out, "ops: not finished: out of time after 10 s; ") {
		t.Errorf("nothing was cut: %s", out)
	}
	for _, want := range []string{"machine: failed with exit code 1: ",
		"failed: gemm bf16 of nmn after ", "facts: ran ("} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if h.measured()["copy, nmn 1"] != 1 {
		t.Error("the copy was not kept")
	}
	h.env = append(h.env, "FAKE_HANG=none", "FAKE_FAIL=none")
	h.run(0, "--resume", "ops", "machine", "facts")
	for m, count := range h.measured() {
		if count != 1 {
			t.Errorf("%s was measured %d times", m, count)
		}
	}
}

// If the script is killed at any moment, the results are whole. The next call measures only what is missing. The
// measurement after the ones that are awaited waits for the kill, so that the script has not ended by then.
func TestGPU_IsWholeWheneverItIsKilled(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	parts := []string{"headline", "machine"}
	for i, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		args := parts
		if i > 0 {
			args = append([]string{"--resume"}, parts...)
		}
		count := h.figures() + 1
		if i == 0 {
			count++ // the table has a row by then
		}
		h.env = append(h.env, fmt.Sprint("FAKE_HOLD=", count))
		s := h.start(args...)
		s.await("the next measurement", func() bool { return h.figures() >= count })
		time.Sleep(time.Duration(37*i) * time.Millisecond)
		expect.OK(t, s.Process.Signal(signal))
		out, code := s.wait()
		if want := map[syscall.Signal]int{syscall.SIGKILL: -9, syscall.SIGTERM: 143}[signal]; code != want {
			t.Fatalf("%v: exit code %d, want %d: %s", signal, code, want, out)
		}
		if len(h.measured()) < count {
			t.Errorf("%v: %d measurements", signal, len(h.measured()))
		}
		table := h.read("table.md")
		if !strings.Contains(table, "| 1x26x565 bf16 | 40") || !strings.Contains(table, "\n- headline: not finished: ") {
			t.Errorf("%v: the table is %s", signal, table)
		}
		h.free()
	}
	h.env = append(h.env, "FAKE_HOLD=1000")
	// What a kill within a write would leave.
	figures, err := os.OpenFile(filepath.Join(h.out, "figures.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	expect.OK(t, err)
	if _, err := figures.WriteString(`{"step_ms": 39, "case": "1x26x565 bf16", "who": "nmn", "ro`); err != nil {
		t.Fatal(err)
	}
	expect.OK(t, figures.Close())
	out := h.run(0, append([]string{"--resume"}, parts...)...)
	text := strings.Replace(h.read("figures.jsonl"), `{"step_ms": 39, "case": "1x26x565 bf16", "who": "nmn", "ro`+
		"\n", "", 1)
	write(t, filepath.Join(h.out, "figures.jsonl"), text)
	measured := h.measured()
	for m, count := range measured {
		if count != 1 {
			t.Errorf("%s was measured %d times", m, count)
		}
	}
	if measured["1x26x565 bf16, compiled 3"] != 1 || measured["gemm fp32 8, nmn 1"] != 1 {
		t.Errorf("measured was %v: %s", measured, out)
	}
	if again := h.run(0, append([]string{"--resume"}, parts...)...); strings.Contains(again, "(0 s of") &&
		len(h.measured()) != len(measured) {
		t.Errorf("a finished one goes on: %s", again)
	}
	h.program("nvidia-smi", `if [ "$1" = -L ]; then echo "GPU 0: another card"; else echo "another card"; fi`+"\n")
	out = h.run(0, "--resume", "facts")
	if !strings.Contains(out, "come from v1, a card, and this is v1, another card: they go to "+h.out+"/before") ||
		h.measured()["gemm fp32 8, nmn 1"] != 0 || !strings.Contains(h.read("before/figures.jsonl"), "gemm fp32") {
		t.Error(out)
	}
}

// The profiler and the sanitizer run our own kernels, and their findings are printed.
func TestGPU_TellsWhatToolsFind(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	h.program("ncu", `printf '%s\n' "$@" >"$OUT/ncu.args"
echo '"Kernel Name","gpu__time_duration.sum","dram__bytes_read.sum","dram__bytes_write.sum","dram__throughput.avg.pct_of_peak_sustained_elapsed","sm__throughput.avg.pct_of_peak_sustained_elapsed"'
echo '"","us","Mbyte","Mbyte","%","%"'
echo '"sgd","1,000","2,000","500","80","10"'
`)
	h.program("compute-sanitizer", `shift; echo "$1: ${*:4}" >>"$OUT/sanitizer.args"
case "$1 $*" in
initcheck*"fp32$/^(LSTM"*) echo "========= ERROR SUMMARY: 0 errors" ;;
initcheck*) echo "========= Uninitialized __global__ memory read of size 4 bytes"; echo "========= ERROR SUMMARY: 3 errors"; exit 9 ;;
racecheck*) echo "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)" ;;
*) echo "========= ERROR SUMMARY: 0 errors" ;;
esac
`)
	h.env = append(h.env, "PATH="+h.root+":"+h.path)
	out := h.run(1, "profile", "sanitizer")
	wantLines(t, out, "| sgd | 1 | 1000 | 2500 | 80 | 10 |",
		"compute-sanitizer, memcheck: 0 found.",
		"compute-sanitizer, racecheck: 0 found.",
		"compute-sanitizer, initcheck: 3 found, exit code 9: Uninitialized __global__ memory read of size 4 bytes.",
		"compute-sanitizer, synccheck, recurrent: 0 found.")
	if !strings.Contains(out, "sanitizer: failed with exit code 1: failed: initcheck, exit code 9") {
		t.Error(out)
	}
	if args := h.read("ncu.args"); !strings.Contains(args, "\nregex:^(sgd)$\n") ||
		!strings.HasPrefix(args, "--clock-control\nnone\n") {
		t.Errorf("ncu was called with %s", args)
	}
	if args := h.read("sanitizer.args"); strings.Count(args, "-test.skip ^TestCUDA_Conforms$/./^(Conv|") != 4 ||
		strings.Count(args, "\n") != 8 {
		t.Errorf("compute-sanitizer was called with %s", args)
	}
	h.run(1, "--resume", "profile", "sanitizer")
	if args := h.read("sanitizer.args"); strings.Count(args, "\n") != 9 {
		t.Errorf("what had found nothing was called again: %s", args)
	}
}

func TestGPU_BeginsAnewAndPutsAsideWhatWasThere(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	h.run(0, "ops", "machine")
	h.env = append(h.env, "FAKE_HOLD=1")
	s := h.start("headline")
	s.await("a measurement", func() bool { return strings.Contains(h.read("figures.jsonl"), "1x26x565") })
	// A second one does not write into the results of the first.
	second := exec.Command("bash", "-c", `exec 9<"$1"; flock -n 9`, "bash", h.out)
	second.Env = h.env
	if second.Run() == nil {
		t.Error("the folder of results is free while it is written")
	}
	expect.OK(t, s.Process.Signal(syscall.SIGTERM))
	s.wait()
	if m := h.measured(); m["copy, nmn 1"] != 0 || h.read("ops.json") != "" || h.read("before/ops.json") == "" {
		t.Errorf("measured is %v", m)
	}
}

// Plans stay if the card or the commit is another one: they serve a later call.
func TestGPU_KeepsPlansOfEarlierCalls(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	plan := filepath.Join(h.root, "cache", "nmn", "plan")
	expect.OK(t, os.MkdirAll(filepath.Dir(plan), 0o777))
	write(t, plan, "a plan")
	h.run(0, "ops")
	expect.OK(t, os.RemoveAll(filepath.Join(h.root, "cache")))
	write(t, filepath.Join(h.root, "commit"), "v2\n")
	h.run(0, "--resume", "ops")
	if text, err := os.ReadFile(plan); err != nil || string(text) != "a plan" {
		t.Errorf("the cache has %q, %v", text, err)
	}
}

// Some hosts return a limited number of files. While a result is written, the folder has no other file than the
// eight results.
func TestGPU_TheResultsAreEightFiles(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	h.run(0, "ops", "machine")
	h.run(0, "ops") // puts the first results aside
	files, err := os.ReadFile(h.out + ".files")
	expect.OK(t, err)
	results := strings.Fields("table.md figures.jsonl parts.txt log.txt ops.json ncu.csv device.json plans.tar.gz")
	if !strings.Contains(string(files), "ops.json") {
		t.Errorf("the files are %s", files)
	}
	for _, name := range strings.Fields(string(files)) {
		if !slices.Contains(results, name) {
			t.Errorf("%s is in the folder of results", name)
		}
	}
	if _, err := os.Stat(filepath.Join(h.out, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a finished script leaves unfinished results: %v", err)
	}
}

// One card shows NCCL with one rank. Its refusal of a second rank is reported and is no failure.
func TestGPU_RanksOnOneCard(t *testing.T) {
	t.Parallel()
	h := newCardHost(t)
	out := h.run(3, "ranks")
	if !strings.Contains(out, "ranks: left out: NCCL refuses 2 ranks on one card: it says so") ||
		!strings.Contains(h.read("table.md"), "NCCL 2.30.7, ranks on this card: 1. One has nothing to sum.") {
		t.Errorf("%s\n%s", out, h.read("table.md"))
	}
	h.program("cuda/nccl/nccl.test", "echo '--- FAIL: TestCard_OneRank (0.00s)'; exit 1\n")
	if out := h.run(1, "ranks"); !strings.Contains(out, "failed: NCCL with ranks: 1, exit code 1") {
		t.Error(out)
	}
}
