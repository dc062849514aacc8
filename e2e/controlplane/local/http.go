package local

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// FreePort is a port of loopback that nobody listens on at this moment.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

var insecureHTTP = &http.Client{
	Timeout:   5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
}

// Get asks a loopback URL, whatever its certificate: the status and the body.
func Get(url, token string) (int, []byte, error) {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	r, err := insecureHTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return r.StatusCode, b, err
}

// WaitHTTP polls a loopback URL until it answers 200, the child ends, or time is up.
func WaitHTTP(ctx context.Context, url, token string, c *Child, d time.Duration) error {
	last := errors.New("no answer")
	for end := time.Now().Add(d); time.Now().Before(end); {
		if c != nil && c.Exited() {
			return fmt.Errorf("the process ended: %v", c.Err())
		}
		code, b, err := Get(url, token)
		if err == nil && code == 200 {
			return nil
		}
		if last = err; err == nil {
			last = fmt.Errorf("%d %s", code, b)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("not ready after %s: %v", d, last)
}
