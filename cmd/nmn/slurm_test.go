package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fakes stand in for SLURM and for nmn: srun leaves its own flags out and runs the rest, sbatch runs what it would queue,
// and nmn writes its arguments down, a line for each command.
var fakes = map[string]string{
	"srun": `while [ "${1#-}" != "$1" ]; do echo "srun $1" >>"$LOG"; shift; done; exec "$@"`,
	"sbatch": `echo "sbatch $*" >>"$LOG"
while [ $# -gt 0 ]; do
  case $1 in --wrap) SLURM_ARRAY_TASK_ID=0 bash -c "$2" ;; esac
  shift
done
echo "$$;cluster"`,
	"nmn": `{ printf nmn; printf '\t%s' "$@"; echo; } >>"$LOG"
case " $* " in *" --tasks "*) printf 'a task\n%.0s' 1 2 3 ;; esac`,
}

// slurm runs a script of examples/slurm among the fakes, and returns what they wrote down.
func slurm(t *testing.T, script string, args ...string) (lines []string) {
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
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
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

// Trainings start their ranks by PMIx and go on by the same command; the flags are those of this program.
func TestSLURM_TrainingsAreOfThisProgram(t *testing.T) {
	for _, script := range []string{"one-node.sh", "many-nodes.sh"} {
		lines := slurm(t, script, "--arm", "nmn-fd", "--seed", "3")
		commands := commandsOf(lines)
		if len(commands) != 1 || !slices.Contains(commands[0], "--continue") || !slices.Contains(lines, "srun --mpi=pmix") ||
			!slices.Contains(lines, "srun --kill-on-bad-exit=1") {
			t.Fatalf("%s starts %q", script, lines)
		}
		if out := must(t, append(commands[0], "--print-config")...); !strings.Contains(out, "seed: 3") {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// What SLURM reads at the head of a script asks for as many cards as ranks, and for SIGTERM in time.
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
		if asked["ntasks-per-node"] != asked["gpus-per-node"] || !strings.HasPrefix(asked["signal"], "TERM@") {
			t.Errorf("%s asks for %q", script, asked)
		}
	}
}
