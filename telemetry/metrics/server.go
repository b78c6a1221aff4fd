package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Server serves /metrics in the format of Prometheus.
type Server struct {
	listener net.Listener
	server   *http.Server
	served   chan error
}

// Serve listens on an address until ctx ends or Close is called. A port alone (9090 or :9090) listens
// on localhost only; 0.0.0.0:9090 on all interfaces; port 0 takes a free one, see Address.
func Serve(ctx context.Context, address string, gatherer prometheus.Gatherer) (*Server, error) {
	address, err := localhost(address)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: cannot listen on %s: choose another address: %w", address, err)
	}
	s := &Server{listener: listener, served: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{}))
	s.server = &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
	}
	go func() { s.served <- s.server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = s.server.Close() }) // Close reports how serving ended
	return s, nil
}

// Address is where the server listens, with the port that it got.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close lets running requests end for at most a second, and stops. Closing twice is harmless.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = s.server.Close()
	}
	if ended, ok := <-s.served; ok {
		close(s.served)
		if !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}
	return err
}

// localhost completes an address that is a port alone.
func localhost(address string) (string, error) {
	if !strings.Contains(address, ":") {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("metrics: address %q: want a port or host:port: %w", address, err)
	}
	host = cmp.Or(host, "localhost")
	return net.JoinHostPort(host, port), nil
}
