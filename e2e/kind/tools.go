//go:build tools

// Package kind names the kind command, which is built from this module.
package kind

import _ "sigs.k8s.io/kind"
