package local

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Below the range from which outgoing connections get theirs: a port of that may be taken before it is listened on.
const firstPort, lastPort = 20000, 32767

// FreePort is a port of loopback that nobody listens on at this moment.
func FreePort() (int, error) {
	for range 200 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no free TCP port found between %d and %d", firstPort, lastPort)
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
