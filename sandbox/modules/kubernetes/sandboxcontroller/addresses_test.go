package sandboxcontroller

import (
	"context"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
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

func TestReconcileStatus(t *testing.T) {
	class := "example.com/other"
	cases := []struct {
		title string
		spec  corev1.ServiceSpec
		want  int
	}{
		{"keeps the addresses of another class", corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: &class}, 2},
		{"gives one address instead of two of nobody", corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}, 1},
		{"takes the addresses of what is no load balancer any more", corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP}, 0},
	}
	for _, c := range cases {
		t.Run(c.title, func(t *testing.T) {
			ctx := context.Background()
			service := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"},
				Spec:       c.spec,
				Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{
					Ingress: []corev1.LoadBalancerIngress{{IP: "203.0.113.1"}, {IP: "203.0.113.2"}},
				}},
			}
			client := fake.NewSimpleClientset(service)
			services := informers.NewSharedInformerFactory(client, 0).Core().V1().Services()
			if err := services.Informer().GetStore().Add(service); err != nil {
				t.Fatal(err)
			}
			controller, err := newAddressController(client, services, netip.MustParsePrefix("198.18.1.0/24"))
			if err != nil {
				t.Fatal(err)
			}
			if err := controller.reconcile(ctx, "demo/web"); err != nil {
				t.Fatal(err)
			}
			found, err := client.CoreV1().Services("demo").Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(found.Status.LoadBalancer.Ingress); got != c.want {
				t.Fatalf("got %d addresses, want %d", got, c.want)
			}
		})
	}
}
