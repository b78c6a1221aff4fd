package mlflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
)

// Access is what a server asks of its clients. Nothing of it is ever written to a file or a log.
type Access struct {
	Token              string // a bearer token; goes before the two others
	Username, Password string
}

const (
	api            = "/api/2.0/mlflow/"
	artifactsAPI   = "/api/2.0/mlflow-artifacts/artifacts/"
	longestAnswer  = 1 << 20
	longestMessage = 300 // of what a server says, in an error
)

// ParseURL checks the address of a server, and takes a name and a password out of it.
func ParseURL(address string) (server string, access Access, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil: // its text has the URL, and in it perhaps a password
		return "", access, errors.New("it is no URL: want one such as http://host:5000")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", access, errors.New("want the http or https URL of a server, such as http://host:5000")
	case u.RawQuery != "" || u.Fragment != "":
		return "", access, errors.New("want a URL without ? and #")
	}
	if u.User != nil {
		access.Username = u.User.Username()
		access.Password, _ = u.User.Password()
		u.User = nil
	}
	return strings.TrimRight(u.String(), "/"), access, nil
}

// client asks one server.
type client struct {
	server  string
	access  Access
	timeout time.Duration // of a request
	http    http.Client
}

func newClient(server string, access Access, timeout time.Duration) *client {
	return &client{server: server, access: access, timeout: timeout, http: http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// refusal is an answer of the server by which it takes a request for wrong: the same request would not succeed later.
type refusal struct {
	code    string // such as RESOURCE_DOES_NOT_EXIST
	message string
}

func (r *refusal) Error() string { return fmt.Sprintf("MLflow refuses it: %s: %s", r.code, r.message) }

func refusedWith(err error, code string) bool {
	var r *refusal
	return errors.As(err, &r) && r.code == code
}

// call sends in as JSON, or a GET request where it is nil, and reads the answer into out, which may be nil.
func (c *client) call(ctx context.Context, name string, query url.Values, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	method, target := http.MethodGet, c.server+api+name
	if query != nil {
		target += "?" + query.Encode()
	}
	var body io.Reader
	if in != nil {
		content, err := json.Marshal(in)
		if err != nil {
			return &refusal{"NOT_SENT", err.Error()}
		}
		method, body = http.MethodPost, bytes.NewReader(content)
	}
	r, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.do(r)
	if err != nil {
		return err
	}
	return read(answer, out)
}

// read reads an answer, which is a JSON object whatever was asked: a page that asks people to log in is none.
func read(answer []byte, out any) error {
	if out == nil {
		out = new(map[string]any)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer is not that of an MLflow server: %w", err)
	}
	return nil
}

// do sends a request and reads the answer. A refusal is a *refusal; other errors may pass.
func (c *client) do(r *http.Request) ([]byte, error) {
	switch {
	case c.access.Token != "":
		r.Header.Set("Authorization", "Bearer "+c.access.Token)
	case c.access.Username != "" || c.access.Password != "":
		r.SetBasicAuth(c.access.Username, c.access.Password)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	switch status := response.StatusCode; {
	case err != nil:
		return nil, err
	case status >= 200 && status < 300:
		return answer, nil
	case status >= 300 && status < 400:
		return nil, fmt.Errorf("%s: the server sends elsewhere, to %q: give that address", response.Status,
			cut(response.Header.Get("Location"), longestMessage))
	default:
		return nil, refused(response, answer)
	}
}

// refused makes an error of an answer: a refusal where the server has understood the request.
func refused(response *http.Response, answer []byte) error {
	var told struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}
	status := response.StatusCode
	understood := json.Unmarshal(answer, &told) == nil && told.Code != ""
	passing := status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout ||
		status == http.StatusUnauthorized || status == http.StatusForbidden
	if understood && !passing {
		return &refusal{told.Code, cut(told.Message, longestMessage)}
	}
	return fmt.Errorf("%s: %s", response.Status, cut(strings.TrimSpace(string(answer)), longestMessage))
}

// upload puts a file among the artifacts of a run, through the server.
func (c *client) upload(ctx context.Context, artifactURI, file string) error {
	root, ok := proxied(artifactURI)
	if !ok {
		return &refusal{"NO_PROXY", "the files of this experiment lie at " + cut(artifactURI, longestMessage) +
			", which is not reached through the server"}
	}
	f, err := os.Open(file)
	if err != nil {
		return &refusal{"NO_FILE", err.Error()}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	u := (&url.URL{Path: path.Join(root, path.Base(strings.ReplaceAll(file, `\`, "/")))}).EscapedPath()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, c.server+artifactsAPI+strings.TrimPrefix(u, "/"), f)
	if err != nil {
		return err
	}
	r.ContentLength = info.Size()
	answer, err := c.do(r)
	if err != nil || len(answer) == 0 { // some versions say nothing
		return err
	}
	return read(answer, nil)
}

// proxied is the path of artifacts that the server itself takes.
func proxied(artifactURI string) (root string, ok bool) {
	u, err := url.Parse(artifactURI)
	if err != nil || u.Scheme != "mlflow-artifacts" {
		return "", false
	}
	return strings.TrimPrefix(u.Path, "/"), true
}

// cut shortens a text to at most n bytes of valid UTF-8.
func cut(s string, n int) string {
	if len(s) <= n {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	const dots = "..."
	return strings.ToValidUTF8(s[:n-len(dots)], "") + dots
}
