package nccl

import (
	"fmt"
	"math"
	"net"
	"strconv"
	"time"

	"nmn/ranks"
)

// OpenStarted joins ranks that PyTorch's launcher has started, without MPI, at the Address of its
// environment. local is the rank's number among the ranks of its host, below 0 if the launcher does not set
// it.
func OpenStarted(getenv func(string) string, rank, ranks, local int, timeout time.Duration) (ranks.Group, error) {
	address, err := Address(getenv)
	if err != nil {
		return nil, err
	}
	return OpenGroup(GroupOptions{Rank: rank, Ranks: ranks, Card: max(local, 0), Address: address, Timeout: timeout})
}

// GroupOptions give a process its rank, and the address at which the ranks meet.
type GroupOptions struct {
	Rank, Ranks int
	// Card is the number of the rank's card: its number among the ranks of its host. If there are fewer
	// cards, for example because each rank sees only its own, numbers start again from the first.
	Card int
	// Address is HOST:PORT of rank 0, from Address. It is unused if ID is set.
	Address string
	// ID is one that NewID has made, for all ranks.
	ID *ID
	// Timeout is how long a call waits for the other ranks; DefaultTimeout if it is 0.
	Timeout time.Duration
}

// ID is shared by the ranks that join. Rank 0 makes it and sends it to the others. It serves one joining.
type ID [128]byte

// DefaultTimeout is longer than any work of a rank while others wait for it, such as writing a large
// checkpoint.
const DefaultTimeout = 10 * time.Minute

// Forever as a timeout has ranks wait for each other for ever.
const Forever time.Duration = math.MaxInt64

// addressVariable is NCCL's own variable: with HOST:PORT in it, an address of rank 0's host, every rank makes the same
// id by itself, and rank 0 waits there for the others.
const addressVariable = "NCCL_COMM_ID"

// Address is where rank 0 waits for the others: addressVariable if it is set, else MASTER_ADDR and
// MASTER_PORT, which PyTorch's launchers set for every process. If torchrun itself serves that port, the next
// one is used.
func Address(getenv func(string) string) (string, error) {
	if named := getenv(addressVariable); named != "" {
		return named, nil
	}
	host, text := getenv("MASTER_ADDR"), getenv("MASTER_PORT")
	if host == "" || text == "" {
		return "", fmt.Errorf("nccl: MASTER_ADDR is %q and MASTER_PORT %q: torchrun sets both to the address at which rank "+
			"0 listens (or name its HOST:PORT by %s)", host, text, addressVariable)
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65534 {
		return "", fmt.Errorf("nccl: MASTER_PORT is %q, want a port from 1 to 65534", text)
	}
	if getenv("TORCHELASTIC_USE_AGENT_STORE") == "True" || getenv("TORCHELASTIC_RUN_ID") != "" {
		port++
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}
