//go:build cuda

package kernels

import (
	"fmt"
	"time"
)

var (
	_ Clock      = (*card)(nil)
	_ Accountant = (*card)(nil)
)

// Mark implements Clock.
func (b *card) Mark(number int) error {
	for len(b.marks) <= number {
		event, err := b.Device.NewEvent(true)
		if err != nil {
			return err
		}
		b.marks = append(b.marks, event)
	}
	return b.Stream.Record(b.marks[number])
}

// Between implements Clock.
func (b *card) Between(first, last int) (time.Duration, error) {
	if first < 0 || last < first || last >= len(b.marks) {
		return 0, fmt.Errorf("cuda: time between marks %d and %d of %d", first, last, len(b.marks))
	}
	return b.marks[first].Elapsed(b.marks[last])
}

// FreeBytes implements Accountant.
func (b *card) FreeBytes() (int, error) {
	free, _, err := b.Device.MemInfo()
	return free, err
}

// MostBytes implements Accountant.
func (b *card) MostBytes() int { return b.Device.MostHeld() }
