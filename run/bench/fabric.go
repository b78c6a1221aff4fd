package bench

import (
	"fmt"
	"math/bits"
	"slices"

	"nmn/internal/setting"
)

// Fabric is what joins cards, as far as the model of scaling goes. Rates are those of one direction.
type Fabric struct {
	Name string `json:"name"`
	// HostCards is the number of cards of a host, and HostGBs the rate in GB/s at which each of them sends to the others.
	HostCards     int     `json:"host_cards"`
	HostGBs       float64 `json:"host_gb_per_s"`
	HostLatencyUS float64 `json:"host_latency_us"` // of a message between two of them
	// NetGBs is the rate in GB/s of all adapters of a host together.
	NetGBs       float64 `json:"net_gb_per_s"`
	NetLatencyUS float64 `json:"net_latency_us"`
}

// What of the published rates messages of collectives reach, and how long a message takes at least. These are
// assumptions, not measurements.
const (
	reachedNVLink = .8
	reachedNet    = .9

	nvlinkLatencyUS     = 3
	infinibandLatencyUS = 10
	ethernetLatencyUS   = 40
)

// nvlink is the rate of the fourth generation, 18 links of 25 GB/s in each direction.
const nvlink = 450

// fabrics are hosts of eight cards on NVLink, and what joins the hosts.
var fabrics = []Fabric{
	hosts("infiniband", 8*400, infinibandLatencyUS), // an adapter of 400 Gb/s for each card
	hosts("ethernet-100", 100, ethernetLatencyUS),
	hosts("ethernet-25", 25, ethernetLatencyUS),
}

func hosts(name string, gigabits, latency float64) Fabric {
	return Fabric{Name: name, HostCards: 8, HostGBs: reachedNVLink * nvlink, HostLatencyUS: nvlinkLatencyUS,
		NetGBs: reachedNet * gigabits / 8, NetLatencyUS: latency}
}

// FabricNames lists the fabrics that are known, the default first.
func FabricNames() []string {
	var names []string
	for _, f := range fabrics {
		names = append(names, f.Name)
	}
	return names
}

// FabricOf is a known fabric. Numbers above 0 take the place of its own: cards of a host, and the rate of all adapters
// of a host in Gb/s.
func FabricOf(name string, hostCards int, gigabits float64) (Fabric, error) {
	i := slices.IndexFunc(fabrics, func(f Fabric) bool { return f.Name == name })
	if i < 0 {
		return Fabric{}, fmt.Errorf("bench: network %q: want %s", name, setting.Alternatives(FabricNames()))
	}
	f := fabrics[i]
	if hostCards > 0 {
		f.HostCards = hostCards
	}
	if gigabits > 0 {
		f.NetGBs = reachedNet * gigabits / 8
	}
	return f, nil
}

// String tells the rates to people.
func (f Fabric) String() string {
	return fmt.Sprintf("%s: hosts of %d cards, each sends %.0f GB/s to the others; %.4g GB/s between hosts; "+
		"%g and %g µs a message", f.Name, f.HostCards, f.HostGBs, f.NetGBs, f.HostLatencyUS, f.NetLatencyUS)
}

// allReduceMS is how long the sum of so many bytes over all cards takes: reduced and scattered within each host, summed
// between hosts by all adapters at once, gathered within the hosts. Hosts are full.
func (f Fabric) allReduceMS(bytes, cards int) float64 {
	inHost := min(cards, f.HostCards)
	ms := exchangeMS(bytes, inHost, f.HostGBs, f.HostLatencyUS)
	return ms + exchangeMS(bytes, (cards+f.HostCards-1)/f.HostCards, f.NetGBs, f.NetLatencyUS)
}

// exchangeMS is how long n parties take who each send gb GB/s: around a ring, whose messages are as many as the
// parties, or along a tree, whose messages are few and carry a little more, whichever is faster.
func exchangeMS(bytes, n int, gb, latencyUS float64) float64 {
	if n < 2 {
		return 0
	}
	once := float64(bytes) / (gb * 1e6)
	share := float64(n-1) / float64(n)
	ring := 2*share*once + 2*float64(n-1)*latencyUS/1e3
	tree := 2*once + 2*float64(bits.Len(uint(n-1)))*latencyUS/1e3
	return min(ring, tree)
}
