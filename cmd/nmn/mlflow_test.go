package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startMLflow starts a real tracking server beside the Python of NMN_PYTHON, and gives its address.
func startMLflow(t *testing.T) string {
	t.Helper()
	program := filepath.Join(filepath.Dir(os.Getenv("NMN_PYTHON")), "mlflow")
	if _, err := os.Stat(program); os.Getenv("NMN_PYTHON") == "" || err != nil {
		t.Skip("NMN_PYTHON names no Python with mlflow beside it")
	}
	dir := t.TempDir()
	const tries = 5 // another process may take the port before the server does
	for try := range tries {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		host, port, _ := net.SplitHostPort(listener.Addr().String())
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		log := new(output)
		cmd := exec.Command(program, "server", "--host", host, "--port", port, "--workers", "1", "--backend-store-uri",
			"sqlite:///"+filepath.Join(dir, "runs.db"), "--artifacts-destination", filepath.Join(dir, "files"))
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = log, log, 5*time.Second
		server := start(t, cmd)
		t.Cleanup(func() {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = server.wait() // it ends its workers first
		})
		address := "http://" + net.JoinHostPort(host, port)
		client := http.Client{Timeout: 10 * time.Second} // whatever has the port instead may never answer
		up := false
		server.until("an answer", func() bool {
			response, err := client.Get(address + "/health")
			if err == nil {
				up = response.StatusCode == http.StatusOK
				_ = response.Body.Close()
			}
			return up || server.hasEnded()
		})
		if up {
			return address
		}
		t.Logf("try %d: %s", try+1, log)
	}
	t.Fatal("MLflow does not start")
	return ""
}

// tracked is a run as the server keeps it.
type tracked struct {
	Info struct {
		ID     string `json:"run_id"`
		Status string `json:"status"`
	} `json:"info"`
	Data struct {
		Metrics []struct {
			Key   string
			Value float64
			Step  int
		}
		Params, Tags []struct{ Key, Value string }
	} `json:"data"`
}

func (r *tracked) tag(key string) string {
	for _, tag := range r.Data.Tags {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

// trackedRuns are the runs of the first experiment that was made, by name.
func trackedRuns(t *testing.T, server string) map[string]*tracked {
	t.Helper()
	response, err := http.Post(server+"/api/2.0/mlflow/runs/search", "application/json",
		strings.NewReader(`{"experiment_ids": ["1"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found struct{ Runs []*tracked }
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	runs := map[string]*tracked{}
	for _, r := range found.Runs {
		if name := r.tag("mlflow.runName"); runs[name] != nil {
			t.Errorf("there are two runs %s", name)
		} else {
			runs[name] = r
		}
	}
	return runs
}

// A real server keeps what a run was, a resumed one as the same, and an experiment as a run with parts.
func TestMLflow_KeepsRunsAsTheyWere(t *testing.T) {
	server := startMLflow(t)
	dir := t.TempDir()
	more := []string{"--mlflow", server, "--mlflow-experiment", "birds", "--log-interval", "1"}
	fd := filepath.Join(dir, "fd")
	cut := append(tiny("train", "--arm", "nmn-fd", "--run-dir", fd, "--epochs", "2"), more...)
	if c := interruptAfter(t, filepath.Join(fd, "stage1"), cut...); c.code != exitInterrupted {
		t.Fatalf("exit code %d: %s", c.code, c.err)
	}
	must(t, "train", "--resume", fd)
	must(t, append(tiny("experiment", "--arms", "stage1,star", "--noise-rates", "0.4", "--run-dir", filepath.Join(dir, "ex")),
		more...)...)
	runs := trackedRuns(t, server)
	whole := runs["ex"]
	for _, name := range []string{"fd", "fd/stage1", "ex", "ex/noise-40/seed-1/stage1", "ex/noise-40/seed-1/star"} {
		r := runs[name]
		if r == nil || r.Info.Status != "FINISHED" {
			t.Fatalf("run %s: %+v", name, r)
		}
		if len(r.Data.Params) < 100 {
			t.Errorf("run %s has %d parameters", name, len(r.Data.Params))
		}
		if name == "ex" {
			continue
		}
		if strings.HasPrefix(name, "ex/") && r.tag("mlflow.parentRunId") != whole.Info.ID {
			t.Errorf("run %s is a part of %q, want %q", name, r.tag("mlflow.parentRunId"), whole.Info.ID)
		}
		if len(r.tag("nmn.data")) != 64 || r.tag("nmn.arm") == "" {
			t.Errorf("run %s has the tags %v", name, r.Data.Tags)
		}
		keys := map[string]bool{}
		for _, m := range r.Data.Metrics {
			keys[m.Key] = true
		}
		for _, key := range []string{"train/loss", "train/epoch_loss", "validation/map", "test/map"} {
			if !keys[key] {
				t.Errorf("run %s has no metric %s", name, key)
			}
		}
		folder := filepath.Join(dir, filepath.FromSlash(name))
		if _, err := os.Stat(filepath.Join(folder, "mlflow.jsonl")); !os.IsNotExist(err) {
			t.Errorf("run %s: something was not sent: %v", name, err)
		}
		want, err := os.ReadFile(filepath.Join(folder, "report.html"))
		if err != nil {
			t.Fatal(err)
		}
		if got := artifact(t, server, r.Info.ID, "report.html"); !bytes.Equal(got, want) {
			t.Errorf("run %s: its page has %d bytes on the server, %d in the folder", name, len(got), len(want))
		}
	}
}

func artifact(t *testing.T, server, run, name string) []byte {
	t.Helper()
	response, err := http.Get(server + "/api/2.0/mlflow-artifacts/artifacts/1/" + run + "/artifacts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v, %s", name, err, response.Status)
	}
	return content
}

// The environment of MLflow's own clients leads there too; credentials come to no file and no line. A server that is
// gone costs a run nothing but a warning.
func TestMLflow_FromTheEnvironmentToAServerThatIsGone(t *testing.T) {
	environment := map[string]string{mlflowVariable: "http://me:secret@127.0.0.1:1", mlflowExperimentVariable: "birds"}
	run := func(args ...string) called {
		var out, errors bytes.Buffer
		code := execute(t.Context(), args, &terminal{in: strings.NewReader(""), out: &out, err: &errors,
			getenv: func(name string) string { return environment[name] }})
		return called{code, out.String(), errors.String()}
	}
	dir := filepath.Join(t.TempDir(), "run")
	plain := filepath.Join(t.TempDir(), "run")
	c := run(tiny("train", "--arm", "stage1", "--run-dir", dir, "--run-name", "first")...)
	if c.code != exitOK || strings.Count(c.err, "level=WARN") != 1 || !strings.Contains(c.err, "mlflow.jsonl") {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
	must(t, tiny("train", "--arm", "stage1", "--run-dir", plain)...)
	for _, name := range []string{"config.yaml", "mlflow.json", "mlflow.jsonl", "log.jsonl", "report.html"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || bytes.Contains(content, []byte("secret")) || strings.Contains(c.err, "secret") {
			t.Errorf("%s: %v, or it has the password", name, err)
		}
	}
	a, errA := os.ReadFile(filepath.Join(dir, "last.safetensors"))
	b, errB := os.ReadFile(filepath.Join(plain, "last.safetensors"))
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Error("telling a tracker changes what is learned")
	}
	environment[mlflowVariable] = "sqlite:///mlflow.db"
	other := filepath.Join(t.TempDir(), "run")
	if c := run(tiny("train", "--arm", "stage1", "--run-dir", other)...); c.code != exitOK ||
		!strings.Contains(c.err, mlflowVariable+" leads to no server") {
		t.Errorf("exit code %d: %s", c.code, c.err)
	}
	wantUsage(t, run(tiny("train", "--mlflow", "http://me:secret@host")...), "--mlflow", mlflowPasswordVariable)
}
