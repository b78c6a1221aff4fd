// Serve answers which words hold for a picture: POST a JPEG or PNG to /predict, and get its words with probabilities.
//
//	serve -model runs/fd -address localhost:8080
//	curl --data-binary @photo.jpg localhost:8080/predict
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"nmn/loader"
	"nmn/run"
)

// maxPicture bounds what a request may send, in bytes.
const maxPicture = 20 << 20

func main() {
	model := flag.String("model", "", "run folder or checkpoint")
	address := flag.String("address", "localhost:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := open(ctx, *model, *address); err != nil {
		log.Fatal(err)
	}
}

// open opens a model and serves its predictions.
func open(ctx context.Context, path, address string) (err error) {
	model, err := run.OpenModel(ctx, path, run.ModelOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return serve(ctx, model, listener)
}

// serve answers requests until ctx ends, and lets those that have begun finish.
func serve(ctx context.Context, model *run.Model, listener net.Listener) error {
	server := &http.Server{Handler: newHandler(model), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute}
	finished := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		finished <- server.Shutdown(grace)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-finished
}

// handler predicts by one model, a picture at a time.
type handler struct {
	mu    sync.Mutex
	model *run.Model
}

func newHandler(m *run.Model) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /predict", &handler{model: m})
	return mux
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	words, err := h.predict(r.Context(), http.MaxBytesReader(w, r.Body, maxPicture))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, "the picture is too large", http.StatusRequestEntityTooLarge)
	case errors.Is(err, loader.ErrCorrupt):
		http.Error(w, "the body is no JPEG or PNG that can be read", http.StatusUnprocessableEntity)
	case err != nil:
		log.Print(err)
		http.Error(w, "cannot predict", http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(words) // who asked may be gone
	}
}

// predict returns the labels of a picture.
func (h *handler) predict(ctx context.Context, body io.Reader) ([]run.Prediction, error) {
	dir, err := os.MkdirTemp("", "nmn-serve-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// On disk, so that any number of them may wait for their turn.
	file, err := os.Create(filepath.Join(dir, "picture"))
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, body)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	o := run.DefaultPredictOptions()
	o.Threshold = .5
	h.mu.Lock()
	defer h.mu.Unlock()
	predictions, err := h.model.Predict(ctx, []string{file.Name()}, o)
	if err != nil {
		return nil, err
	}
	return predictions.Words(0), nil
}
