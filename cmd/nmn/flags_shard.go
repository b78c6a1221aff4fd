package main

import (
	"fmt"

	"nmn/run"
)

// shardValue is the flag --shard.
type shardValue struct{ to *run.Shard }

func (v shardValue) String() string {
	if v.to == nil {
		return ""
	}
	return v.to.String()
}

func (v shardValue) Type() string { return "i/n" }

func (v shardValue) Set(text string) (err error) {
	*v.to, err = run.ParseShard(text)
	return err
}

// shard declares --shard.
func (r group) shard(to *run.Shard, of string) {
	r.set.Var(shardValue{to}, "shard", "process only part `i/n` of the "+of+"; i is 1 to n")
	r.keep("shard")
}

// tellShard prints how to join the outputs of all shards.
func (p *program) tellShard(s run.Shard, how string) {
	if s.Of > 0 && !p.quiet {
		fmt.Fprintf(p.err, "shard %v is written; %s (docs/guide/cluster.md#shards)\n", s, how)
	}
}
