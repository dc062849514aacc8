package local

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Placeholders fill in a scheduler's command line and configuration: {kubeconfig} {token-kubeconfig} {server} {token}
// {ca} {cluster-dir} of the cluster, {port} {dir} {name}, and further ones as pairs of what is replaced by what.
func (c *Cluster) Placeholders(port int, dir, name string, further ...string) *strings.Replacer {
	return strings.NewReplacer(append([]string{
		"{kubeconfig}", c.Kubeconfig, "{token-kubeconfig}", c.TokenKC, "{server}", c.Server,
		"{token}", c.Token, "{ca}", c.CAFile, "{cluster-dir}", c.Dir,
		"{port}", fmt.Sprint(port), "{dir}", dir, "{name}", name,
	}, further...)...)
}

var configRE = regexp.MustCompile(`\{config:([^}]+)\}`)

// Expand fills in a command line; {config:FILE} becomes the path of a copy of FILE in dir, filled in as well.
func Expand(line string, with *strings.Replacer, dir string) (string, error) {
	var err error
	line = configRE.ReplaceAllStringFunc(line, func(m string) string {
		from := configRE.FindStringSubmatch(m)[1]
		to := filepath.Join(dir, "own-"+filepath.Base(from))
		b, e := os.ReadFile(from)
		if e == nil {
			e = os.WriteFile(to, []byte(with.Replace(string(b))), 0o600)
		}
		if e != nil {
			err = e
		}
		return to
	})
	return with.Replace(line), err
}
