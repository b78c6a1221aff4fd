package main

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"nmn/recipe"
	"nmn/run"
)

// trained is a model that has seen a few scenes.
func trained(t *testing.T) *run.Model {
	t.Helper()
	config, err := run.Preset(run.ScenesPreset, run.Quick)
	if err != nil {
		t.Fatal(err)
	}
	config.Arm, config.Train.Stage1Epochs = recipe.Stage1, 1
	config.Data.TrainSize, config.Data.ValidationSize, config.Data.TestSize = 64, 16, 16
	config.Net.Width, config.Run.Device = .5, "cpu"
	session, err := run.Open(t.Context(), config, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	dir := t.TempDir()
	if _, err := session.Train(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	m, err := session.OpenModel(dir, run.Last)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func TestServe_AnswersPicturesAndRefusesOthers(t *testing.T) {
	server := httptest.NewServer(newHandler(trained(t)))
	defer server.Close()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"picture":   {picture.String(), http.StatusOK},
		"text":      {"this is no picture", http.StatusUnprocessableEntity},
		"too large": {strings.Repeat("x", maxPicture+1), http.StatusRequestEntityTooLarge},
	} {
		answer, err := http.Post(server.URL+"/predict", "", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var words []run.Prediction
		if err := json.NewDecoder(answer.Body).Decode(&words); answer.StatusCode != c.want ||
			(err == nil) != (c.want == http.StatusOK) {
			t.Errorf("%s: %s, want %d; %v", name, answer.Status, c.want, err)
		}
		answer.Body.Close()
	}
}

func TestServe_EndsWithItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	model, ended := trained(t), make(chan error, 1)
	go func() { ended <- serve(ctx, model, listener) }()
	answer, err := http.Get("http://" + listener.Addr().String() + "/predict")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %s", answer.Status)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
