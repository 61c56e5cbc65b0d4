//go:build tools

package main

import (
	_ "github.com/projectcalico/calico/cni-plugin/cmd/calico"
	_ "github.com/projectcalico/calico/felix/cmd/calico-felix"
)
