//go:build tools

// Package upstream pins the modules that Kubernetes' tests need.
package upstream

import (
	_ "k8s.io/kubernetes/test/integration/dra"
	_ "k8s.io/kubernetes/test/integration/scheduler_perf"
)
