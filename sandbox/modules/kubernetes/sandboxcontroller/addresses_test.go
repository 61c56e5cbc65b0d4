package sandboxcontroller

import (
	"net/netip"
	"testing"
)

func TestChooseAddress(t *testing.T) {
	taken := func(addresses ...string) map[netip.Addr]bool {
		set := map[netip.Addr]bool{}
		for _, address := range addresses {
			set[netip.MustParseAddr(address)] = true
		}
		return set
	}
	cases := []struct {
		title, pool, wanted string
		taken               map[netip.Addr]bool
		want                string
	}{
		{"the first of an empty pool", "198.18.1.0/24", "", taken(), "198.18.1.1"},
		{"the lowest that is free", "198.18.1.0/24", "", taken("198.18.1.1", "198.18.1.3"), "198.18.1.2"},
		{"none when all are taken", "198.18.1.0/30", "", taken("198.18.1.1", "198.18.1.2"), ""},
		{"the wanted one", "198.18.1.0/24", "198.18.1.9", taken(), "198.18.1.9"},
		{"not a wanted one that is taken", "198.18.1.0/24", "198.18.1.9", taken("198.18.1.9"), ""},
		{"not a wanted one outside the pool", "198.18.1.0/24", "10.0.0.1", taken(), ""},
	}
	for _, c := range cases {
		t.Run(c.title, func(t *testing.T) {
			address, err := chooseAddress(netip.MustParsePrefix(c.pool), c.wanted, c.taken)
			if c.want == "" {
				if err == nil {
					t.Fatalf("got %s, want an error", address)
				}
				return
			}
			if err != nil || address.String() != c.want {
				t.Fatalf("got %s (%v), want %s", address, err, c.want)
			}
		})
	}
}
