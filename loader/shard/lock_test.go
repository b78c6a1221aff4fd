//go:build unix

package shard

import (
	"encoding/json"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// Two writers in one folder would write the same shard.
func TestWriter_IsAloneInItsFolder(t *testing.T) {
	dir := write(t)
	config := Config{ShardBytes: 20_000, Settings: json.RawMessage(`{"frames":26}`)}
	first, err := Append(dir, config)
	expect.OK(t, err)
	index := string(read(t, dir, IndexName))
	second, err := Append(dir, config)
	if err == nil || !strings.Contains(err.Error(), "another nmn frames is writing to") {
		t.Errorf("the error of a second writer is %v", err)
	}
	if second != nil {
		expect.OK(t, second.Close())
	}
	if after := string(read(t, dir, IndexName)); after != index {
		t.Error("a second writer changed the index")
	}
	expect.OK(t, first.Close())
	third, err := Append(dir, config) // the lock goes with the writer
	expect.OK(t, err)
	expect.OK(t, third.Close())
}
