// Package local brings up etcd and kube-apiserver on loopback, for programs that run schedulers on them.
package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Options are the choices for a control plane.
type Options struct {
	Name          string // of the program: its cluster, certificates and folders are called after it
	Dir           string // where everything lies; "" makes a temp dir
	BinDir        string // where the programs are looked for before PATH
	Authz         string // AlwaysAllow (also ""), RBAC or Node,RBAC
	FeatureGates  string
	RuntimeConfig string
	SAAdmission   bool     // keep the ServiceAccount admission plugin
	Taint         bool     // keep the TaintNodesByCondition admission plugin
	APIArgs       []string // further kube-apiserver flags
	EtcdArgs      []string
	Users         []string      // NAME[=GROUP,...]: a kubeconfig NAME.kubeconfig each (":" becomes "_")
	CPUs          string        // taskset list for etcd and the API server
	Grace         time.Duration // how long each of the two may take to end
}

// Cluster is a running control plane; its JSON form is DIR/cluster.json.
type Cluster struct {
	Dir        string `json:"dir"`
	TempDir    bool   `json:"tempDir"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
	TokenKC    string `json:"tokenKubeconfig"`
	Token      string `json:"token"`
	CAFile     string `json:"caFile"`
	EtcdURL    string `json:"etcd"`
	EtcdPid    int    `json:"etcdPid"`
	APIPid     int    `json:"apiserverPid"`
	EtcdStart  uint64 `json:"etcdStart"` // start ticks: guards against a reused pid
	APIStart   uint64 `json:"apiserverStart"`

	name      string
	grace     time.Duration
	etcd, api *Child
}

// Up starts etcd and kube-apiserver, and returns when both are ready.
func Up(o Options) (_ *Cluster, err error) {
	c := &Cluster{Dir: o.Dir, name: o.Name, grace: o.Grace}
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp(TempBase(o.Name), o.Name+"-cluster-"); err != nil {
			return nil, err
		}
		c.TempDir = true
	} else if err = os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	} else if _, e := os.Stat(c.path("cluster.json")); e == nil {
		return nil, fmt.Errorf("%s already has a cluster.json: take that cluster down first", c.Dir)
	}
	defer func() {
		if err != nil {
			c.Down()
		}
	}()
	etcdBin, err := findBin("etcd", o.BinDir)
	if err != nil {
		return nil, err
	}
	apiBin, err := findBin("kube-apiserver", o.BinDir)
	if err != nil {
		return nil, err
	}
	var ports [3]int // etcd, its peers, the API server
	for i := range ports {
		if ports[i], err = FreePort(); err != nil {
			return nil, err
		}
	}
	c.EtcdURL = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peer := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	c.Server = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	if err = c.writeCredentials(o.Users); err != nil {
		return nil, err
	}
	if c.etcd, err = c.start(o, "etcd", etcdBin, c.etcdArgs(o, peer)); err != nil {
		return nil, err
	}
	c.EtcdPid = c.etcd.Pid
	if err = WaitHTTP(context.Background(), c.EtcdURL+"/health", "", c.etcd, 30*time.Second); err != nil {
		return nil, fmt.Errorf("etcd: %w\n%s", err, c.etcd.Tail(15))
	}
	if c.api, err = c.start(o, "apiserver", apiBin, c.apiArgs(o, ports[2])); err != nil {
		return nil, err
	}
	c.APIPid = c.api.Pid
	if err = WaitHTTP(context.Background(), c.Server+"/readyz", c.Token, c.api, 120*time.Second); err != nil {
		return nil, fmt.Errorf("kube-apiserver: %w\n%s", err, c.api.Tail(25))
	}
	if s, e := ReadStat(c.EtcdPid); e == nil {
		c.EtcdStart = s.Start
	}
	if s, e := ReadStat(c.APIPid); e == nil {
		c.APIStart = s.Start
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return nil, err
	}
	return c, os.WriteFile(c.path("cluster.json"), append(b, '\n'), 0o600)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

// start runs one of the two on the CPUs that are set aside for them, with its log and command line in the folder.
func (c *Cluster) start(o Options, name, bin string, args []string) (*Child, error) {
	line := append([]string{bin}, args...)
	if err := os.WriteFile(c.path(name+".cmd"), []byte(strings.Join(line, " ")+"\n"), 0o600); err != nil {
		return nil, err
	}
	if o.CPUs != "" {
		line = append([]string{"taskset", "-c", o.CPUs}, line...)
	}
	return Start(exec.Command(line[0], line[1:]...), c.path(name+".log"))
}

func (c *Cluster) etcdArgs(o Options, peer string) []string {
	return append([]string{
		"--name=" + o.Name, "--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + c.EtcdURL, "--advertise-client-urls=" + c.EtcdURL,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=" + o.Name + "=" + peer,
		"--unsafe-no-fsync", "--quota-backend-bytes=8589934592", "--log-level=warn",
	}, o.EtcdArgs...)
}

func (c *Cluster) apiArgs(o Options, port int) []string {
	authz := o.Authz
	if authz == "" {
		authz = "AlwaysAllow"
	}
	disabled := []string{"StorageObjectInUseProtection"}
	if !o.SAAdmission {
		disabled = append(disabled, "ServiceAccount")
	}
	if !o.Taint {
		disabled = append(disabled, "TaintNodesByCondition")
	}
	args := []string{
		"--etcd-servers=" + c.EtcdURL,
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + c.path("server.crt"), "--tls-private-key-file=" + c.path("server.key"),
		"--client-ca-file=" + c.path("ca.crt"), "--token-auth-file=" + c.path("tokens.csv"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("sa.key"), "--service-account-signing-key-file=" + c.path("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=" + authz,
		"--disable-admission-plugins=" + strings.Join(disabled, ","),
		"--allow-privileged=true", "--v=0",
	}
	if o.FeatureGates != "" {
		args = append(args, "--feature-gates="+o.FeatureGates)
	}
	if o.RuntimeConfig != "" {
		args = append(args, "--runtime-config="+o.RuntimeConfig)
	}
	return append(args, o.APIArgs...)
}

// Load reads the cluster that a program called name left running in a folder.
func Load(name, dir string, grace time.Duration) (*Cluster, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if err != nil {
		return nil, err
	}
	c := &Cluster{name: name, grace: grace}
	return c, json.Unmarshal(b, c)
}

// Down ends the processes (by recorded pid, start time checked) and removes a temp dir, unless NAME_KEEP is set.
func (c *Cluster) Down() {
	stop := func(child *Child, pid int, start uint64) {
		if child != nil {
			child.Stop(c.grace)
		} else {
			stopPid(pid, start, c.grace)
		}
	}
	stop(c.api, c.APIPid, c.APIStart)
	stop(c.etcd, c.EtcdPid, c.EtcdStart)
	if c.TempDir && os.Getenv(variable(c.name, "KEEP")) == "" {
		os.RemoveAll(c.Dir)
	} else {
		os.Remove(c.path("cluster.json"))
	}
}

// TempBase is where folders of a program are made: in NAME_TMP if it is set, else on tmpfs where there is one.
func TempBase(name string) string {
	if d := os.Getenv(variable(name, "TMP")); d != "" {
		return d
	}
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

// BinDir is what NAME_BIN_DIR says.
func BinDir(name string) string { return os.Getenv(variable(name, "BIN_DIR")) }

func variable(name, what string) string { return strings.ToUpper(name) + "_" + what }

func findBin(name string, dirs ...string) (string, error) {
	for _, d := range dirs {
		if d == "" {
			continue
		}
		p := filepath.Join(d, name)
		if st, err := os.Stat(p); err == nil && !st.IsDir() {
			return p, nil
		}
	}
	return exec.LookPath(name)
}
