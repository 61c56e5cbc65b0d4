//go:build tools

package main

import _ "go.k6.io/k6"
