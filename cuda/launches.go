//go:build cuda

package cuda

import "sync"

// launches remembers the latest launches of a stream for the report of a fault.
type launches struct {
	mu      sync.Mutex
	names   [16]string // launch n is in n % 16
	count   uint32     // launches so far
	own     [16]bool   // whether launch n, in n % 16, is followed by its own mark
	settled uint32     // number of launches that have ended
	mark    *HostBuffer
	marking bool
	quiet   bool // marks are left out for now
}

// open gets the word that the device writes its progress to.
func (l *launches) open(d *Device) error {
	mark, err := d.AllocHost(8)
	if err != nil {
		return err
	}
	clear(mark.Bytes())
	l.mark, l.marking = mark, true
	return nil
}

// add notes a launch and returns its number, from 1 on, and whether to mark it.
func (l *launches) add(name string) (number uint32, marking bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.names[l.count%uint32(len(l.names))] = name
	marking = l.marking && !l.quiet
	l.own[l.count%uint32(len(l.own))] = marking
	return l.count, marking
}

// hush turns marks off or on. It returns whether they were off before, and the mark that is missing after the
// latest launch, 0 for none.
func (l *launches) hush(quiet bool) (before bool, missing uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.quiet = l.quiet, quiet
	if last := l.count % uint32(len(l.own)); !quiet && l.marking && l.count > l.settled && !l.own[last] {
		l.own[last], missing = true, l.count
	}
	return before, missing
}

// settle notes that all launches have ended.
func (l *launches) settle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = l.count
}

func (l *launches) unmark() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.marking = false
}

func (l *launches) word() uintptr { return uintptr(l.mark.at) }

// suspects returns the launches that may have failed, the latest last. failed is the one that did fail if the
// marks show it. It returns none if all have ended.
func (l *launches) suspects() (failed string, recent []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := uint32(len(l.names))
	first := l.settled + 1
	if l.count >= size {
		first = max(first, l.count-size+1)
	}
	marked := l.marking && l.mark != nil
	if marked {
		first = max(first, *(*uint32)(l.mark.at)+1)
	}
	for n := first; n <= l.count; n++ {
		recent = append(recent, l.names[n%size])
	}
	// The next mark that did not come belongs to the launch that failed, unless launches before it have none.
	if marked && len(recent) > 0 && l.own[first%size] {
		failed = recent[0]
	}
	return failed, recent
}

// fault makes the error of a failed kernel. The caller holds mu.
func (d *Device) fault(noticed string, code int) error {
	e := &FaultError{Noticed: noticed, Name: nameOf(code), Detail: textOf(code)}
	for _, o := range d.owned {
		s, ok := o.(*Stream)
		if !ok {
			continue
		}
		failed, recent := s.launches.suspects()
		e.Recent = append(e.Recent, recent...)
		if e.Launch == "" {
			e.Launch = failed
		}
	}
	if len(e.Recent) == 1 {
		e.Launch = e.Recent[0]
	}
	return e
}
