// Command coredns is CoreDNS as published: its plugins register themselves when the package is imported.
package main

import (
	_ "github.com/coredns/coredns/core/plugin"
	"github.com/coredns/coredns/coremain"
)

func main() {
	coremain.Run()
}
