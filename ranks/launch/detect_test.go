package launch

import (
	"strings"
	"testing"
)

// environment is KEY=VALUE, by spaces.
func environment(text string) func(string) string {
	values := map[string]string{}
	for _, pair := range strings.Fields(text) {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// Variables that launchers set in the environment of a process, and the resulting place.
var places = []struct {
	name, environment string
	rank, size, local int
	by                string // start of the launcher's name; empty if there is none
}{
	{"nothing", "PATH=/bin HOME=/root", 0, 0, 0, ""},
	{"Open MPI", "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_RANK=3",
		3, 8, 1, "mpirun of Open MPI"},
	{"Open MPI, one rank", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_LOCAL_RANK=0",
		0, 1, 0, "mpirun of Open MPI"},
	{"Open MPI in an allocation of SLURM, its daemons started by srun",
		"OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 " +
			"SLURM_PROCID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_NTASKS=8 SLURM_LOCALID=0",
		5, 8, 1, "mpirun of Open MPI"},
	{"MPICH", "PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2", 2, 4, 0, "PMI"},
	{"MPICH without local rank", "PMI_RANK=2 PMI_SIZE=4", 2, 4, -1, "PMI"},
	{"srun --mpi=pmi2", "PMI_RANK=2 PMI_SIZE=4 SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0 SLURM_LOCALID=1",
		2, 4, 1, "PMI"},
	{"srun --mpi=pmix", "PMIX_RANK=6 SLURM_PROCID=6 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=16 SLURM_STEP_ID=1 " +
		"SLURM_LOCALID=2", 6, 8, 2, "PMIx"},
	{"srun", "SLURM_PROCID=6 SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=8 SLURM_STEP_ID=1 SLURM_LOCALID=2", 6, 8, 2, "srun"},
	{"a batch script of SLURM", "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_LOCALID=0 SLURM_JOB_ID=7", 0, 0, 0, ""},
	{"srun with one task", "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=8 SLURM_STEP_ID=1 SLURM_LOCALID=0",
		0, 1, 0, "srun"},
	{"torchrun", "RANK=9 WORLD_SIZE=16 LOCAL_RANK=1 MASTER_ADDR=a TORCHELASTIC_RUN_ID=none", 9, 16, 1, "torchrun"},
	{"torchrun on each node, started by srun", "RANK=9 WORLD_SIZE=16 LOCAL_RANK=1 MASTER_ADDR=a " +
		"TORCHELASTIC_RUN_ID=7 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_ID=0 PMI_RANK=1 PMI_SIZE=2",
		9, 16, 1, "torchrun"},
	{"PyTorchJob", "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=23456", 1, 4, 0, "PyTorchJob"},
	{"variables of torch set by a script of SLURM's step", "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a " +
		"SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 SLURM_STEP_ID=0 SLURM_LOCALID=1", 1, 4, 1, "srun"},
	{"variables of others with common names", "RANK=colonel WORLD_SIZE=big", 0, 0, 0, ""},
}

func TestDetect_ReadsWhatLaunchersSay(t *testing.T) {
	for _, c := range places {
		p, found, err := Detect(environment(c.environment))
		if err != nil || found != (c.by != "") || p.Rank != c.rank || p.Size != c.size || p.Local != c.local ||
			!strings.HasPrefix(p.By, c.by) {
			t.Errorf("%s: %+v, %v, %v", c.name, p, found, err)
		}
		if torch := strings.HasPrefix(strings.ToLower(p.By), "torch") || p.By == "PyTorchJob"; p.Torch != torch {
			t.Errorf("%s: of torch: %v", c.name, p.Torch)
		}
	}
}

func TestDetect_NamesTheVariableThatMakesNoSense(t *testing.T) {
	for text, want := range map[string]string{
		"OMPI_COMM_WORLD_RANK=8 OMPI_COMM_WORLD_SIZE=8":                              "OMPI_COMM_WORLD_RANK is \"8\"",
		"OMPI_COMM_WORLD_RANK=-1 OMPI_COMM_WORLD_SIZE=8":                             "OMPI_COMM_WORLD_RANK is \"-1\"",
		"OMPI_COMM_WORLD_RANK=1x OMPI_COMM_WORLD_SIZE=8":                             "OMPI_COMM_WORLD_RANK is \"1x\"",
		"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=0":                              "OMPI_COMM_WORLD_SIZE is \"0\"",
		"OMPI_COMM_WORLD_RANK=0":                                                     "OMPI_COMM_WORLD_SIZE is not",
		"OMPI_COMM_WORLD_SIZE=2":                                                     "OMPI_COMM_WORLD_RANK is not",
		"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=8": "OMPI_COMM_WORLD_LOCAL_RANK",
		"PMI_RANK=1":                             "PMI_SIZE is not",
		"PMI_RANK=1 PMI_SIZE=99999999999":        "PMI_SIZE is",
		"PMIX_RANK=1":                            "SLURM_STEP_NUM_TASKS is not",
		"SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4": "SLURM_PROCID is not",
		"SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=4":    "SLURM_PROCID is \"4\"",
		"TORCHELASTIC_RUN_ID=7 RANK=2 WORLD_SIZE=2 LOCAL_RANK=0":   "RANK is \"2\"",
		"TORCHELASTIC_RUN_ID=7 RANK=1 WORLD_SIZE=2 LOCAL_RANK=two": "LOCAL_RANK is \"two\"",
		"MASTER_ADDR=a WORLD_SIZE=2":                               "RANK is not",
	} {
		if _, found, err := Detect(environment(text)); err == nil || found || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, c := range places {
		f.Add(c.environment)
	}
	f.Add("PMI_RANK=1 PMI_SIZE=99999999999")
	f.Fuzz(func(t *testing.T, text string) {
		p, found, err := Detect(environment(text))
		if found && (err != nil || p.Rank < 0 || p.Rank >= p.Size || p.Local < -1 || p.Local >= p.Size || p.By == "") {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
