package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Cluster is a running control plane with a temp dir of its own.
type Cluster struct {
	Dir, Server, Kubeconfig, TokenKC, Token, CAFile string

	etcd, api *Child
}

func envOr(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// tempBase prefers tmpfs.
func tempBase() string {
	if d := os.Getenv("SESSIONS_TMP"); d != "" {
		return d
	}
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

type ca struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

func newCA() (*ca, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sessions-ca"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &ca{key, c, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

func (c *ca) issue(cn string, orgs []string, server bool) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	sn, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	t := &x509.Certificate{
		SerialNumber: sn, Subject: pkix.Name{CommonName: cn, Organization: orgs},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(5, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if server {
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		t.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
		t.IPAddresses = []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("::1"), net.ParseIP("10.0.0.1")}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, c.cert, key.Public(), c.key)
	if err != nil {
		return nil, nil, err
	}
	kp, err := keyToPEM(key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), kp, err
}

func keyToPEM(k crypto.Signer) ([]byte, error) {
	b, err := x509.MarshalECPrivateKey(k.(*ecdsa.PrivateKey))
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b}), nil
}

func kubeconfig(server string, caPEM []byte, user string) []byte {
	return []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: sessions
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: user
  user:
%s
contexts:
- name: sessions
  context: {cluster: sessions, user: user}
current-context: sessions
`, server, base64.StdEncoding.EncodeToString(caPEM), user))
}

func certUser(cert, key []byte) string {
	return "    client-certificate-data: " + base64.StdEncoding.EncodeToString(cert) +
		"\n    client-key-data: " + base64.StdEncoding.EncodeToString(key)
}

// clusterUp starts etcd and kube-apiserver, found in a folder or else on PATH.
func clusterUp(binDir string) (_ *Cluster, err error) {
	c := &Cluster{}
	if c.Dir, err = os.MkdirTemp(tempBase(), "sessions-cluster-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.down()
		}
	}()
	etcdBin, err := findBin("etcd", binDir)
	if err != nil {
		return nil, err
	}
	apiBin, err := findBin("kube-apiserver", binDir)
	if err != nil {
		return nil, err
	}
	p := func(n string) string { return filepath.Join(c.Dir, n) }
	put := func(n string, b []byte) {
		if err == nil {
			err = os.WriteFile(p(n), b, 0o600)
		}
	}

	// certificates, keys, tokens
	ca, err := newCA()
	if err != nil {
		return nil, err
	}
	sc, sk, err := ca.issue("kube-apiserver", nil, true)
	if err != nil {
		return nil, err
	}
	ac, ak, err := ca.issue("sessions-admin", []string{"system:masters"}, false)
	if err != nil {
		return nil, err
	}
	saKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	saPEM, err := keyToPEM(saKey)
	if err != nil {
		return nil, err
	}
	tok := make([]byte, 16)
	rand.Read(tok)
	c.Token = hex.EncodeToString(tok)
	tokens := c.Token + `,sessions-admin-token,1,"system:masters"` + "\n"
	put("ca.crt", ca.pem)
	put("server.crt", sc)
	put("server.key", sk)
	put("admin.crt", ac)
	put("admin.key", ak)
	put("sa.key", saPEM)

	ports := [3]int{}
	for i := range ports {
		if ports[i], err = freePort(); err != nil {
			return nil, err
		}
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peer := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	c.Server = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	c.Kubeconfig, c.TokenKC, c.CAFile = p("admin.kubeconfig"), p("admin-token.kubeconfig"), p("ca.crt")
	put("admin.kubeconfig", kubeconfig(c.Server, ca.pem, certUser(ac, ak)))
	put("admin-token.kubeconfig", kubeconfig(c.Server, ca.pem, "    token: "+c.Token))
	put("tokens.csv", []byte(tokens))
	if err != nil {
		return nil, err
	}

	etcdArgs := []string{
		"--name=sessions", "--data-dir=" + p("etcd"),
		"--listen-client-urls=" + etcdURL, "--advertise-client-urls=" + etcdURL,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=sessions=" + peer,
		"--unsafe-no-fsync", "--quota-backend-bytes=8589934592", "--log-level=warn",
	}
	if c.etcd, err = startChild(exec.Command(etcdBin, etcdArgs...), p("etcd.log")); err != nil {
		return nil, err
	}
	apiArgs := []string{
		"--etcd-servers=" + etcdURL,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]),
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + p("server.crt"), "--tls-private-key-file=" + p("server.key"),
		"--client-ca-file=" + p("ca.crt"), "--token-auth-file=" + p("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p("sa.key"), "--service-account-signing-key-file=" + p("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=AlwaysAllow",
		"--disable-admission-plugins=StorageObjectInUseProtection,ServiceAccount,TaintNodesByCondition",
		"--allow-privileged=true", "--v=0",
	}
	if err = waitHTTP(context.Background(), etcdURL+"/health", "", c.etcd, 30*time.Second); err != nil {
		return nil, fmt.Errorf("etcd: %w\n%s", err, tail(p("etcd.log"), 15))
	}
	if c.api, err = startChild(exec.Command(apiBin, apiArgs...), p("apiserver.log")); err != nil {
		return nil, err
	}
	if err = waitHTTP(context.Background(), c.Server+"/readyz", c.Token, c.api, 120*time.Second); err != nil {
		return nil, fmt.Errorf("kube-apiserver: %w\n%s", err, tail(p("apiserver.log"), 25))
	}
	return c, err
}

var insecureHTTP = &http.Client{
	Timeout:   5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
}

func httpGet(url, token string) (int, []byte, error) {
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

// waitHTTP polls a loopback URL until it answers 200, the child ends, or time is up.
func waitHTTP(ctx context.Context, url, token string, c *Child, d time.Duration) error {
	last := errors.New("no answer")
	for end := time.Now().Add(d); time.Now().Before(end); {
		if c != nil && c.exited() {
			return fmt.Errorf("the process ended: %v", c.err)
		}
		code, b, err := httpGet(url, token)
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

// down ends the processes and removes a temp dir.
func (c *Cluster) down() {
	if c.api != nil {
		c.api.stop(3 * time.Second)
	}
	if c.etcd != nil {
		c.etcd.stop(3 * time.Second)
	}
	if os.Getenv("SESSIONS_KEEP") == "" {
		os.RemoveAll(c.Dir)
	}
}
