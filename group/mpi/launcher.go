//go:build cgo && (mpi || mpich)

package mpi

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// farewell is how long mpirun has to end a job of which a rank on another host is gone.
const farewell = 6 * time.Second

// endLauncher ends the process that has started this rank, if it is an mpirun that is still there some time later. When
// the link to another host is gone, mpirun kills the ranks of its own host and waits for the daemon of the other: Open
// MPI 4.1 for longer than eight minutes, in which a scheduler holds the nodes. SIGTERM ends it then. Who waits is a
// process of its own, for this one is killed before.
func endLauncher(pid int, after time.Duration) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	name := strings.TrimSpace(string(content))
	if err != nil || !slices.Contains([]string{"mpirun", "mpiexec", "orterun", "prterun", "mpiexec.hydra"}, name) {
		return // a daemon, or srun, or no Linux
	}
	wait := exec.Command("sh", "-c", `sleep "$1"; test "$(cat "/proc/$2/comm")" = "$3" && kill -TERM "$2"`, "sh",
		strconv.FormatFloat(after.Seconds(), 'f', -1, 64), strconv.Itoa(pid), name)
	wait.Dir, wait.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true} // else it would be killed with this process
	_ = wait.Start()                                                     // without it the job ends too, later
}
