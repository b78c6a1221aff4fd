package telemetry

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// longestAnswer is the most that is read of what /healthz says.
const longestAnswer = 1 << 10

// Healthy asks the server at an address, as Serve takes it, whether training is up and gets ahead. An address of all
// interfaces is asked on localhost.
func Healthy(ctx context.Context, address string) error {
	address, err := localhost(address)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("metrics: address %q: %w", address, err)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		address = net.JoinHostPort("localhost", port)
	}
	url := "http://" + address + "/healthz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("metrics: no training answers there: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	switch {
	case err == nil && response.StatusCode == http.StatusOK && string(body) == healthy:
		return nil
	case err == nil && response.StatusCode == http.StatusServiceUnavailable:
		return fmt.Errorf("metrics: the training at %s hangs: %q", address, strings.TrimSpace(string(body)))
	}
	return fmt.Errorf("metrics: %s is served by another program: %s, %q", url, response.Status, body)
}
