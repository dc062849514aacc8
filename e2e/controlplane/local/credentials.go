package local

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"
)

// writeCredentials makes the certificates, keys and tokens of a cluster, and a kubeconfig for each way to come in:
// the admin by certificate and by token, and further users by certificate.
func (c *Cluster) writeCredentials(users []string) (err error) {
	put := func(name string, b []byte) {
		if err == nil {
			err = os.WriteFile(c.path(name), b, 0o600)
		}
	}
	authority, err := newCA(c.name + "-ca")
	if err != nil {
		return err
	}
	serverCert, serverKey, err := authority.issue("kube-apiserver", nil, true)
	if err != nil {
		return err
	}
	adminCert, adminKey, err := authority.issue(c.name+"-admin", []string{"system:masters"}, false)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serviceAccountKey, err := keyToPEM(key)
	if err != nil {
		return err
	}
	token := make([]byte, 16)
	rand.Read(token)
	c.Token = hex.EncodeToString(token)
	c.Kubeconfig, c.TokenKC, c.CAFile = c.path("admin.kubeconfig"), c.path("admin-token.kubeconfig"), c.path("ca.crt")
	put("ca.crt", authority.pem)
	put("server.crt", serverCert)
	put("server.key", serverKey)
	put("admin.crt", adminCert)
	put("admin.key", adminKey)
	put("sa.key", serviceAccountKey)
	put("tokens.csv", []byte(fmt.Sprintf("%s,%s-admin-token,1,%q\n", c.Token, c.name, "system:masters")))
	put("admin.kubeconfig", c.kubeconfig(authority.pem, certUser(adminCert, adminKey)))
	put("admin-token.kubeconfig", c.kubeconfig(authority.pem, "    token: "+c.Token))
	for _, u := range users {
		name, groups, _ := strings.Cut(u, "=")
		var in []string
		if groups != "" {
			in = strings.Split(groups, ",")
		}
		cert, key, e := authority.issue(name, in, false)
		if e != nil {
			return e
		}
		put(strings.ReplaceAll(name, ":", "_")+".kubeconfig", c.kubeconfig(authority.pem, certUser(cert, key)))
	}
	return err
}

func (c *Cluster) kubeconfig(caPEM []byte, user string) []byte {
	return []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: %[2]s
    certificate-authority-data: %[3]s
users:
- name: user
  user:
%[4]s
contexts:
- name: %[1]s
  context: {cluster: %[1]s, user: user}
current-context: %[1]s
`, c.name, c.Server, base64.StdEncoding.EncodeToString(caPEM), user))
}

func certUser(cert, key []byte) string {
	return "    client-certificate-data: " + base64.StdEncoding.EncodeToString(cert) +
		"\n    client-key-data: " + base64.StdEncoding.EncodeToString(key)
}

type ca struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

func newCA(name string) (*ca, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
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

// issue makes a certificate: of the API server, or of a client in some groups.
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
