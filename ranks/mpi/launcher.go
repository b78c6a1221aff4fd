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

// farewell is how long mpirun may take to end a job after a rank on another host is lost.
const farewell = 6 * time.Second

// endLauncher sends SIGTERM to the parent process after a delay, if the parent is mpirun and still runs. When the link
// to another host is lost, mpirun kills the ranks of its own host and then waits for the daemon of the other host. Open
// MPI 4.1 waits for more than eight minutes, and a scheduler holds the nodes that long. A separate process does the
// waiting, because mpirun kills this one.
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
