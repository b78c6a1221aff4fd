package nccl

import "testing"

func TestAddress_IsThatOfRank0(t *testing.T) {
	for _, c := range []struct {
		environment map[string]string
		want        string
	}{
		{map[string]string{"MASTER_ADDR": "node-0", "MASTER_PORT": "29500"}, "node-0:29500"},
		{map[string]string{"MASTER_ADDR": "node-0", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "x"}, "node-0:29501"},
		{map[string]string{"MASTER_ADDR": "fe80::1", "MASTER_PORT": "1"}, "[fe80::1]:1"},
		{map[string]string{"MASTER_ADDR": "a", "MASTER_PORT": "1", addressVariable: "b:7"}, "b:7"},
		{map[string]string{"MASTER_PORT": "29500"}, ""},
		{map[string]string{"MASTER_ADDR": "a"}, ""},
		{map[string]string{"MASTER_ADDR": "a", "MASTER_PORT": "65535"}, ""},
		{map[string]string{"MASTER_ADDR": "a", "MASTER_PORT": "many"}, ""},
	} {
		got, err := Address(func(name string) string { return c.environment[name] })
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v: %q, %v; want %q", c.environment, got, err, c.want)
		}
	}
}
