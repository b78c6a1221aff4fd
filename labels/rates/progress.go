package rates

import "sync"

// progress counts units of work, from several goroutines.
type progress struct {
	tell  func(done, total int)
	total int
	mutex sync.Mutex
	done  int
}

func (p *progress) add(units int) {
	if p.tell == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done += units
	p.tell(p.done, p.total)
}
