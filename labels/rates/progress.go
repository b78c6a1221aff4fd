package rates

import "sync"

// progress counts units of work, from several goroutines.
type progress struct {
	report func(done, total int)
	total  int
	mutex  sync.Mutex
	done   int
}

func (p *progress) add(units int) {
	if p.report == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done += units
	p.report(p.done, p.total)
}
