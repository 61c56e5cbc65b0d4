// Command coredns is CoreDNS with the plugins of the sandbox's Corefile (node/addons/dns.ts) and of CoreDNS' own, which
// counts where there is none. The published program has 60, and clients of three clouds.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
	_ "github.com/coredns/coredns/plugin/whoami"
)

func main() {
	// In CoreDNS' order, in which they are asked.
	dnsserver.Directives = []string{
		"ready", "health", "prometheus", "errors", "log", "loadbalance", "template", "kubernetes", "whoami",
	}
	coremain.Run()
}
