package sandboxcontroller

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// addressController writes an address into the status of each LoadBalancer Service; kube-proxy does the rest.
type addressController struct {
	*worker
	client   kubernetes.Interface
	services corelisters.ServiceLister
	pool     netip.Prefix
	// given holds what this process gave, by Service: the cache learns of it only a moment later.
	given map[string]netip.Addr
}

func newAddressController(
	client kubernetes.Interface,
	services coreinformers.ServiceInformer,
	pool netip.Prefix,
) (*addressController, error) {
	c := &addressController{client: client, services: services.Lister(), pool: pool, given: map[string]netip.Addr{}}
	var err error
	c.worker, err = newWorker(services.Informer(), c.reconcile)
	return c, err
}

func (c *addressController) reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	service, err := c.services.Services(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		delete(c.given, key)
		return nil
	}
	if err != nil {
		return err
	}
	if !wantsAddress(service) {
		delete(c.given, key)
		if isOfAnother(service) || len(service.Status.LoadBalancer.Ingress) == 0 {
			return nil
		}
		return c.patch(ctx, service, nil)
	}
	if address, ok := c.addressOf(service); ok {
		c.given[key] = address
		return nil
	}
	address, err := chooseAddress(c.pool, service.Spec.LoadBalancerIP, c.taken(key))
	if err != nil {
		return fmt.Errorf("no address for Service %s: %w", key, err)
	}
	mode := corev1.LoadBalancerIPModeVIP
	ingress := []corev1.LoadBalancerIngress{{IP: address.String(), IPMode: &mode}}
	if err := c.patch(ctx, service, ingress); err != nil {
		return err
	}
	c.given[key] = address
	klog.InfoS("gave an address", "service", key, "address", address)
	return nil
}

func wantsAddress(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeLoadBalancer && !isOfAnother(service) &&
		service.DeletionTimestamp == nil
}

// isOfAnother is true for Services of another implementation's class: these are left alone, as the API asks.
func isOfAnother(service *corev1.Service) bool {
	return service.Spec.LoadBalancerClass != nil
}

// addressOf reads the one address of the pool that a Service has already.
func (c *addressController) addressOf(service *corev1.Service) (netip.Addr, bool) {
	if len(service.Status.LoadBalancer.Ingress) != 1 {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(service.Status.LoadBalancer.Ingress[0].IP)
	return address, err == nil && c.pool.Contains(address)
}

// taken are the addresses of all other Services.
func (c *addressController) taken(except string) map[netip.Addr]bool {
	taken := map[netip.Addr]bool{}
	for key, address := range c.given {
		if key != except {
			taken[address] = true
		}
	}
	services, err := c.services.List(labels.Everything())
	if err != nil {
		return taken // a lister reads memory and does not fail
	}
	for _, service := range services {
		if address, ok := c.addressOf(service); ok && service.Namespace+"/"+service.Name != except {
			taken[address] = true
		}
	}
	return taken
}

func (c *addressController) patch(
	ctx context.Context,
	service *corev1.Service,
	ingress []corev1.LoadBalancerIngress,
) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": service.UID}, // not for a new Service of the same name
		"status":   map[string]any{"loadBalancer": map[string]any{"ingress": ingress}},
	})
	if err != nil {
		return err
	}
	_, err = c.client.CoreV1().Services(service.Namespace).
		Patch(ctx, service.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// chooseAddress takes the wanted address if there is one, else the lowest free; the range's first and last stay unused.
func chooseAddress(pool netip.Prefix, wanted string, taken map[netip.Addr]bool) (netip.Addr, error) {
	if wanted != "" {
		address, err := netip.ParseAddr(wanted)
		if err != nil || !pool.Contains(address) {
			return netip.Addr{}, fmt.Errorf("spec.loadBalancerIP %q is not in %s", wanted, pool)
		}
		if taken[address] {
			return netip.Addr{}, fmt.Errorf("spec.loadBalancerIP %s belongs to another Service", address)
		}
		return address, nil
	}
	for address := pool.Masked().Addr().Next(); pool.Contains(address.Next()); address = address.Next() {
		if !taken[address] {
			return address, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("all addresses of %s are taken", pool)
}
