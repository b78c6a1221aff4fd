//go:build cgo && (mpi || mpich)

package mpi

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"nmn/ranks"
	"nmn/tools/ranksuite"
)

// BenchmarkRanks measures sums and gatherings on 2 and 4 ranks of this host, and copying for comparison.
func BenchmarkRanks(b *testing.B) {
	figure := regexp.MustCompile(`figure (\S+) (\S+)`)
	for _, n := range []int{2, 4} {
		b.Run(fmt.Sprintf("%d", n), func(b *testing.B) {
			r := start(b, n, "Measure")
			if r.code != 0 {
				b.Fatal(r.output)
			}
			b.ReportMetric(0, "ns/op")
			for _, found := range figure.FindAllStringSubmatch(r.output, -1) {
				v, err := strconv.ParseFloat(found[2], 64)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(v, found[1])
			}
		})
	}
}

func init() {
	cases = append(cases, ranksuite.Case{Name: "Measure", Run: measure})
}

// A step of VGG16 moves this many numbers, in this many buckets of one size.
const parameters, buckets = 138357544, 8

func measure(g ranks.Group) error {
	times := 5
	if v, err := strconv.Atoi(os.Getenv("NMN_TEST_TIMES")); err == nil {
		times = v
	}
	x := make([]float32, parameters)
	y := make([]float32, parameters/buckets)
	for i := range x {
		x[i] = float32(i & 1023)
	}
	begin := func(wire ranks.Wire) error {
		var err error
		for k := range buckets {
			err = errors.Join(err, g.Sum(x[k*len(x)/buckets:(k+1)*len(x)/buckets], wire))
		}
		return err
	}
	step := func(wire ranks.Wire) func() error {
		return func() error { return errors.Join(begin(wire), g.Wait()) }
	}
	sum := func(n int) func() error {
		return func() error {
			if err := g.Sum(x[:n], ranks.Float32); err != nil {
				return err
			}
			return g.Wait()
		}
	}
	own := make([]byte, 48)
	gather := func() error { _, err := g.Gather(own); return err }
	copying := func() error { copy(y, x[:len(y)]); return nil }
	for _, m := range []struct {
		name  string
		times int
		bytes int
		run   func() error
	}{
		{"copy-GB/s", times, 4 * len(y), copying},
		{"sum-553MB-GB/s", times, 4 * len(x), step(ranks.Float32)},
		{"sum-553MB-bf16-GB/s", times, 4 * len(x), step(ranks.BFloat16)},
		{"sum-1MB-µs", 20 * times, 0, sum(1 << 18)},
		{"sum-4B-µs", 200 * times, 0, sum(1)},
		{"gather-48B-µs", 200 * times, 0, gather},
	} {
		took, err := median(g, m.times, m.run)
		if err != nil {
			return err
		}
		v := took.Seconds() * 1e6
		if m.bytes > 0 {
			v = float64(m.bytes) / took.Seconds() / 1e9
		}
		if g.Rank() == 0 {
			fmt.Printf("figure %s %.3g\n", m.name, v)
		}
	}
	if err := processor(g, step(ranks.Float32)); err != nil {
		return err
	}
	return overlap(g, times, begin, step(ranks.Float32))
}

// overlap measures computing with the sums of a step after it and in parallel to it, alternately: wall-clock
// time and processor time.
func overlap(g ranks.Group, times int, begin func(ranks.Wire) error, step func() error) error {
	var clock, cpu [2][]float64
	for i := range 2 * times {
		if _, err := g.Gather(nil); err != nil {
			return err
		}
		var before, after syscall.Rusage
		begun, err := time.Now(), syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		if i%2 == 0 {
			compute()
			err = errors.Join(err, step())
		} else {
			err = errors.Join(err, begin(ranks.Float32))
			compute()
			err = errors.Join(err, g.Wait())
		}
		if err := errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &after)); err != nil {
			return err
		}
		clock[i%2] = append(clock[i%2], time.Since(begun).Seconds()*1e3)
		cpu[i%2] = append(cpu[i%2], spent(after)-spent(before))
	}
	for i, name := range []string{"behind", "beside"} {
		slices.Sort(clock[i])
		slices.Sort(cpu[i])
		if g.Rank() == 0 {
			fmt.Printf("figure %s-ms %.4g\nfigure %s-cpu-ms %.4g\n", name, clock[i][times/2], name, cpu[i][times/2])
		}
	}
	return nil
}

// compute keeps one processor busy for a second or so, in its first cache.
func compute() {
	var a [1024]float32
	for range 1000000 {
		for i := range a {
			a[i] = a[i]*0.99 + 1
		}
	}
	if a[7] == 0 {
		fmt.Println("the sums of a series are zero")
	}
}

// median has all ranks run something together several times.
func median(g ranks.Group, times int, run func() error) (time.Duration, error) {
	var took []time.Duration
	for range times {
		if _, err := g.Gather(nil); err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}

// processor measures what the last rank's processor spends on the sums of a step, and on waiting for a second for
// rank 0.
func processor(g ranks.Group, step func() error) error {
	var before, summed, waited syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return err
	}
	if err := errors.Join(step(), syscall.Getrusage(syscall.RUSAGE_SELF, &summed)); err != nil {
		return err
	}
	if g.Rank() == 0 {
		time.Sleep(time.Second)
	}
	_, err := g.Gather(nil)
	if err := errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &waited)); err != nil {
		return err
	}
	if g.Rank() == g.Size()-1 {
		fmt.Printf("figure sum-553MB-cpu-ms %.4g\nfigure wait-1s-cpu-ms %.4g\n", spent(summed)-spent(before),
			spent(waited)-spent(summed))
	}
	return nil
}

// spent is the processor's time, in milliseconds.
func spent(u syscall.Rusage) float64 { return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6 }
