//go:build tools

// Package helm names the helm command, which is built from this module.
package helm

import _ "helm.sh/helm/v4/cmd/helm"
