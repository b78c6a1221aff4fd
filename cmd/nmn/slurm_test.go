package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakes stand in for SLURM and for nmn: srun leaves its own flags out and runs the rest, sbatch runs what it would
// queue, and nmn writes its arguments down, a line for each command.
var fakes = map[string]string{
	"srun": `while [ "${1#-}" != "$1" ]; do echo "srun $1" >>"$LOG"; shift; done; exec "$@"`,
	"sbatch": `echo "sbatch $*" >>"$LOG"
while [ $# -gt 0 ]; do
  case $1 in --wrap) SLURM_ARRAY_TASK_ID=0 sh -c "$2" || true ;; esac
  shift
done
echo "17;cluster"`,
	"scontrol": `echo "scontrol $*" >>"$LOG"`,
	"nmn": `{ printf nmn; printf '\t%s' "$@"; echo; } >>"$LOG"
case " ${WARN:-} $* " in " yes train "* | " yes experiment --task "*) # as SLURM does before the time is over
  trap 'echo saved >>"$LOG"; exit 130' USR1
  if [ -r /proc/$PPID/status ]; then # wait until the script catches signal 10, which is bit 9
    until grep -q '^SigCgt:.*[2367abef]..$' /proc/$PPID/status; do sleep .01; done
  else
    sleep 1
  fi
  kill -USR1 $PPID
  while kill -0 $PPID 2>/dev/null; do sleep .05; done ;;
esac
[ -z "${FAIL:-}" ] || exit 1
case " $* " in *" --tasks "*)
  echo task,arm,noise,MIL,seed,after,complete,folder
  echo 0,stage1,40 %,no,1,,no,a/stage1
  echo 1,baseline,40 %,no,1,0,no,a/baseline
  echo 2,nmn-fd,40 %,no,1,0,no,a/nmn-fd
  echo 3,held-rates,40 %,no,1,0,yes,a/held-rates ;;
esac`,
}

// slurm runs a script of examples/slurm among the fakes, and returns what they wrote down.
func slurm(t *testing.T, script string, args ...string) (lines []string) {
	t.Helper()
	lines, err := slurmEnds(t, script, args...)
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return lines
}

// slurmEnds is slurm with how the script ended.
func slurmEnds(t *testing.T, script string, args ...string) (lines []string, err error) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("the script was not run: %v", err)
	}
	dir := t.TempDir()
	for name, text := range fakes {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"+bash+"\nset -eu\n"+text+"\n"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	path, err := filepath.Abs(filepath.Join("../../examples/slurm", script))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, append([]string{path}, args...)...)
	log := filepath.Join(dir, "log")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LOG="+log, "SLURM_JOB_ID=17")
	out, ended := cmd.CombinedOutput()
	if ended != nil {
		ended = fmt.Errorf("%w: %s", ended, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), ended
}

// commandsOf are the command lines of nmn among what the fakes wrote down.
func commandsOf(lines []string) (commands [][]string) {
	for _, line := range lines {
		if words := strings.Split(line, "\t"); words[0] == "nmn" {
			commands = append(commands, words[1:])
		}
	}
	return commands
}

// Trainings start their ranks by PMIx, and the same command continues them. This program has all of their flags.
func TestSLURM_TrainingsAreOfThisProgram(t *testing.T) {
	t.Setenv("SLURM_CPUS_PER_TASK", "12")
	for _, script := range []string{"one-node.sh", "many-nodes.sh"} {
		lines := slurm(t, script, "--arm", "nmn-fd", "--seed", "3")
		commands := commandsOf(lines)
		if len(commands) != 1 || !slices.Contains(lines, "srun --mpi=pmix") ||
			!slices.Contains(lines, "srun --kill-on-bad-exit=1") || !slices.Contains(lines, "srun --cpus-per-task=12") {
			t.Fatalf("%s starts %q", script, lines)
		}
		if out := must(t, asConfig(commands[0])...); !strings.Contains(out, "seed: 3") {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// A training that receives SLURM's warning saves and is queued again. A training that fails is not.
func TestSLURM_WarnedJobsAreQueuedAgain(t *testing.T) {
	t.Setenv("WARN", "yes")
	for _, script := range []string{"one-node.sh", "many-nodes.sh"} {
		lines, err := slurmEnds(t, script, "--arm", "nmn-fd")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%s: %v, want exit code %d", script, err, exitInterrupted)
		}
		if got := lines[max(0, len(lines)-2):]; !slices.Equal(got, []string{"saved", "scontrol requeue 17"}) {
			t.Errorf("%s ends with %q", script, got)
		}
	}
	lines := slurm(t, "array.sh", filepath.Join(t.TempDir(), "grid"), "--size", "quick")
	saved, again := 0, 0
	for _, line := range lines {
		switch line {
		case "saved":
			saved++
		case "scontrol requeue 17":
			again++
		}
	}
	if saved != 2 || again != 2 { // one task of each of the two arrays
		t.Errorf("%d tasks saved and %d were queued again, want 2 and 2: %q", saved, again, lines)
	}
	t.Setenv("WARN", "")
	t.Setenv("FAIL", "yes")
	if lines, err := slurmEnds(t, "one-node.sh"); err == nil || slices.Contains(lines, "scontrol requeue 17") {
		t.Errorf("a training that fails: %v, %q", err, lines)
	}
	if lines, err := slurmEnds(t, "array.sh", "grid"); err == nil || len(lines) != 1 {
		t.Errorf("an experiment that has no list of tasks: %v, and %q; want nothing queued", err, lines)
	}
}

// The head of a script asks SLURM for as many cards as ranks, and for a warning in time, sent only to the
// script. The script passes the warning on and queues the job again.
func TestSLURM_HeadsAskForACardARank(t *testing.T) {
	for _, script := range []string{"one-node.sh", "many-nodes.sh"} {
		text, err := os.ReadFile(filepath.Join("../../examples/slurm", script))
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if flag, ok := strings.CutPrefix(strings.TrimSpace(line), "#SBATCH --"); ok {
				name, value, _ := strings.Cut(flag, "=")
				asked[name] = value
			}
		}
		if asked["ntasks-per-node"] != asked["gpus-per-node"] || !strings.HasPrefix(asked["signal"], "B:USR1@") {
			t.Errorf("%s asks for %q", script, asked)
		}
	}
}

// An experiment becomes an array of independent runs, an array of the runs that need them, and a final job.
// Complete runs are not queued again.
func TestSLURM_ArraysWaitForWhatTheyNeed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "an experiment")
	lines := slurm(t, "array.sh", dir, "--size", "quick", "--seeds", "1,2")
	var queued []string
	for _, line := range lines {
		if strings.HasPrefix(line, "sbatch ") {
			var flags []string
			for _, word := range strings.Fields(line) {
				if name, _, _ := strings.Cut(word, "="); slices.Contains([]string{"--job-name", "--array", "--dependency"}, name) {
					flags = append(flags, word)
				}
			}
			queued = append(queued, strings.Join(flags, " "))
		}
	}
	want := []string{"--job-name=nmn-stage1 --array=0%16", "--job-name=nmn-arms --array=1,2%16 --dependency=afterok:17",
		"--job-name=nmn-collect --dependency=afterok:17:17"}
	if !slices.Equal(queued, want) {
		t.Errorf("queued are %q, want %q", queued, want)
	}
	commands := commandsOf(lines)
	if len(commands) != 4 {
		t.Fatalf("started are %q", commands)
	}
	t.Setenv("SLURM_ARRAY_TASK_ID", "0")
	for _, args := range commands {
		if !slices.Contains(args, dir) {
			t.Errorf("nmn %q is not of the folder", args)
		}
		if err := taken(args); err != nil {
			t.Errorf("nmn %q: %v", args, err)
		}
	}
}
