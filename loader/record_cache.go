package loader

import (
	"sync"

	"nmn/loader/shard"
)

// cachedRecords is the number of clips in a cache: enough for several batches, so that the frames of a clip
// share one reading of its line. A record of 26 frames takes a kilobyte.
const cachedRecords = 1024

// recordCache keeps the records that were asked for last.
type recordCache struct {
	reader *shard.Reader

	mutex   sync.Mutex
	records map[int]*shard.Record
	order   []int // clips of the records, from the one that is replaced next
	next    int
}

func newRecordCache(reader *shard.Reader) *recordCache {
	return &recordCache{reader: reader, records: make(map[int]*shard.Record, cachedRecords)}
}

// get returns the record of a clip, which must not be changed.
func (c *recordCache) get(clip int) (*shard.Record, error) {
	c.mutex.Lock()
	record := c.records[clip]
	c.mutex.Unlock()
	if record != nil {
		return record, nil
	}
	read, err := c.reader.Record(clip) // if two callers miss at once, both read, and neither waits
	if err != nil {
		return nil, err
	}
	c.put(clip, &read)
	return &read, nil
}

func (c *recordCache) put(clip int, record *shard.Record) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.records[clip] != nil {
		return
	}
	if len(c.order) < cachedRecords {
		c.order = append(c.order, clip)
	} else {
		delete(c.records, c.order[c.next])
		c.order[c.next] = clip
		c.next = (c.next + 1) % cachedRecords
	}
	c.records[clip] = record
}
