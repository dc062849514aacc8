// Command kubelet is a stand-in for the kubelet's streaming server, for one thing: forwarding ports.
//
// The protocol is not ours: k8s.io/cri-streaming serves it, the very code with which kubelets and container runtimes
// do. What is left out is the pod: no containers run here, so a pod's port is the same port on loopback, where a test
// has started the program that the pod stands for.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

const (
	idle     = 5 * time.Minute
	creation = 30 * time.Second
)

type loopback struct{}

// PortForward copies between a stream and a port on loopback until one of them ends.
func (loopback) PortForward(ctx context.Context, name, uid string, port int32, stream io.ReadWriteCloser) error {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer connection.Close()
	done := make(chan struct{}, 2)
	go func() { io.Copy(connection, stream); done <- struct{}{} }()
	go func() { io.Copy(stream, connection); done <- struct{}{} }()
	<-done
	return nil
}

// serve answers /portForward/NAMESPACE/POD and /portForward/NAMESPACE/POD/UID.
func serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/portForward/"), "/")
	if len(parts) < 2 || len(parts) > 3 {
		http.NotFound(w, r)
		return
	}
	uid := ""
	if len(parts) == 3 {
		uid = parts[2]
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := parts[0] + "/" + parts[1]
	portforward.ServePortForward(w, r, loopback{}, name, uid, options, idle, creation, portforward.SupportedProtocols)
}

func run() error {
	port := flag.Int("port", 0, "port to listen on, on 127.0.0.1")
	certificate := flag.String("tls-cert-file", "", "serving certificate")
	key := flag.String("tls-private-key-file", "", "its key")
	authority := flag.String("client-ca-file", "", "authority of the certificates that the API server shows")
	flag.Parse()
	pem, err := os.ReadFile(*authority)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return errors.New("no certificate in " + *authority)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/portForward/", serve)
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") })
	server := &http.Server{
		Addr:              fmt.Sprintf("127.0.0.1:%d", *port),
		Handler:           mux,
		ReadHeaderTimeout: creation,
		TLSConfig: &tls.Config{
			ClientAuth: tls.RequireAndVerifyClientCert,
			ClientCAs:  pool,
			MinVersion: tls.VersionTLS12,
			NextProtos: []string{"http/1.1"},
		},
	}
	return server.ListenAndServeTLS(*certificate, *key)
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
