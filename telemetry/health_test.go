package telemetry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestHealthy_AsksTheServerByTheAddressOfItsFlag(t *testing.T) {
	for _, listen := range []string{"0", "0.0.0.0:0"} {
		server, err := Serve(t.Context(), listen, prometheus.NewRegistry(), well)
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(server.Address())
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{port, ":" + port, "localhost:" + port, "0.0.0.0:" + port} {
			if err := Healthy(t.Context(), address); err != nil {
				t.Errorf("%s, asked as %s: %v", server.Address(), address, err)
			}
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := Healthy(t.Context(), port); err == nil || !strings.Contains(err.Error(), "no training answers") {
			t.Errorf("after its end: %v", err)
		}
	}
}

func TestHealthy_IsNotDeceivedByOtherPrograms(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"not found":   http.NotFound,
		"other words": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\nand more")) },
	} {
		other := httptest.NewServer(handler)
		err := Healthy(t.Context(), strings.TrimPrefix(other.URL, "http://"))
		if err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("%s: %v, want that of another program", name, err)
		}
		other.Close()
	}
	ctx, giveUp := context.WithCancel(t.Context())
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		giveUp()
		<-r.Context().Done()
	}))
	if err := Healthy(ctx, strings.TrimPrefix(hangs.URL, "http://")); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that hangs: %v, want that the context has ended", err)
	}
	hangs.Close()
	if err := Healthy(t.Context(), "a:b:c"); err == nil || !strings.Contains(err.Error(), "a:b:c") {
		t.Errorf("an address that is none: %v", err)
	}
}

// well is a training that does not hang.
func well() error { return nil }
