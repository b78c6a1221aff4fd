//go:build unix

package shard

import (
	"encoding/json"
	"strings"
	"testing"
)

// Two writers in one folder would write the same shard.
func TestWriter_IsAloneInItsFolder(t *testing.T) {
	for _, form := range []Form{Shards, Folder} {
		dir := write(t, form)
		config := Config{Form: form, ShardBytes: 20_000, Settings: json.RawMessage(`{"frames":26}`)}
		first, err := Append(dir, config)
		check(t, err)
		index := string(read(t, dir, IndexName))
		second, err := Append(dir, config)
		if err == nil || !strings.Contains(err.Error(), "another nmn frames is writing to") {
			t.Errorf("%s: the error of a second writer is %v", form, err)
		}
		if second != nil {
			check(t, second.Close())
		}
		if after := string(read(t, dir, IndexName)); after != index {
			t.Errorf("%s: a second writer changed the index", form)
		}
		check(t, first.Close())
		third, err := Append(dir, config) // the lock goes with the writer
		check(t, err)
		check(t, third.Close())
	}
}
