// Package launch finds out whether this process was started as one of several ranks, and by which launcher,
// and joins the ranks.
package launch

import (
	"fmt"
	"math"
	"strconv"
)

// Place is a process's position according to its launcher.
type Place struct {
	Rank, Size int
	// Local is the rank's number on its host, and -1 if the launcher does not give it.
	Local int
	// By names the launcher, for messages.
	By string
	// Torch is set if PyTorch's launcher or operator has started the process: MPI has no information on it.
	Torch bool
}

// launcher holds the names of the variables in which a launcher passes a process its place. If there are
// several names, the first that is set counts.
type launcher struct {
	by    string
	marks []string // all are set by this launcher
	rank  []string
	size  []string
	local []string
	torch bool
	// without is the local rank to assume if no variable gives it.
	without int
}

// launchers are tried in this order, from the innermost outwards. Each host's torchrun may have been started
// by srun or mpirun, which themselves may have been started in a step of SLURM. A batch script of SLURM has
// SLURM_PROCID too, but is in no step with tasks.
var launchers = []launcher{
	{by: "torchrun", marks: []string{"TORCHELASTIC_RUN_ID"}, rank: []string{"RANK"}, size: []string{"WORLD_SIZE"},
		local: []string{"LOCAL_RANK"}, torch: true, without: -1},
	{by: "mpirun of Open MPI", rank: []string{"OMPI_COMM_WORLD_RANK"}, size: []string{"OMPI_COMM_WORLD_SIZE"},
		local: []string{"OMPI_COMM_WORLD_LOCAL_RANK"}, without: -1},
	{by: "PMI (mpirun of MPICH or Intel MPI, or srun --mpi=pmi2)", rank: []string{"PMI_RANK"},
		size:  []string{"PMI_SIZE"},
		local: []string{"MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"}, without: -1},
	{by: "PMIx (srun --mpi=pmix)", rank: []string{"PMIX_RANK"}, size: []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
		local: []string{"SLURM_LOCALID"}, without: -1},
	{by: "srun of SLURM", marks: []string{"SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"}, rank: []string{"SLURM_PROCID"},
		size: []string{"SLURM_STEP_NUM_TASKS"}, local: []string{"SLURM_LOCALID"}, without: -1},
	// A PyTorchJob starts one process in each pod.
	{by: "PyTorchJob", marks: []string{"MASTER_ADDR"}, rank: []string{"RANK"}, size: []string{"WORLD_SIZE"},
		local: []string{"LOCAL_RANK"}, torch: true},
}

// Detect reads from the environment which rank this process is. It reports whether a launcher has set its
// variables. Invalid values are an error that names the variable.
func Detect(getenv func(string) string) (Place, bool, error) {
	for _, l := range launchers {
		if p, found, err := l.detect(getenv); found || err != nil {
			return p, found, err
		}
	}
	return Place{}, false, nil
}

func (l launcher) detect(getenv func(string) string) (Place, bool, error) {
	for _, name := range l.marks {
		if getenv(name) == "" {
			return Place{}, false, nil
		}
	}
	rank, size, local := firstSet(getenv, l.rank), firstSet(getenv, l.size), firstSet(getenv, l.local)
	switch {
	case getenv(rank) == "" && (getenv(size) == "" || rank == "PMIX_RANK"):
		return Place{}, false, nil
	case getenv(rank) == "":
		return Place{}, false, fmt.Errorf("%s is set and %s is not: %s sets both", size, rank, l.by)
	case getenv(size) == "":
		return Place{}, false, fmt.Errorf("%s is set and %s is not: %s sets both", rank, size, l.by)
	}
	p := Place{Local: l.without, By: l.by, Torch: l.torch}
	var err error
	if p.Size, err = number(getenv, size, 1, math.MaxInt32); err != nil {
		return Place{}, false, err
	}
	if p.Rank, err = number(getenv, rank, 0, p.Size-1); err != nil {
		return Place{}, false, fmt.Errorf("%w (%s is %d)", err, size, p.Size)
	}
	if getenv(local) != "" {
		if p.Local, err = number(getenv, local, 0, p.Size-1); err != nil {
			return Place{}, false, fmt.Errorf("%w (%s is %d)", err, size, p.Size)
		}
	}
	return p, true, nil
}

// firstSet is the first of some variables that is set, or the first of all.
func firstSet(getenv func(string) string, names []string) string {
	for _, name := range names {
		if getenv(name) != "" {
			return name
		}
	}
	return names[0]
}

// number reads a variable that must be a whole number within bounds.
func number(getenv func(string) string, name string, least, most int) (int, error) {
	n, err := strconv.Atoi(getenv(name))
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is %q; it must be a whole number from %d to %d", name, getenv(name), least, most)
	}
	return n, nil
}
