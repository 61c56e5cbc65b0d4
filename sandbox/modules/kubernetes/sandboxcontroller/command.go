// Package sandboxcontroller does for the sandbox what a cloud's controllers do for a cluster: it gives LoadBalancer
// Services their addresses and makes released local volumes free again.
package sandboxcontroller

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// NewCommand is the controller as a command: it runs until the API server's credentials or the process end.
func NewCommand(ctx context.Context) *cobra.Command {
	var kubeconfig, pool, volumes string
	command := &cobra.Command{
		Use:          "sandbox-controller",
		Short:        "Gives LoadBalancer Services addresses and recycles released local volumes",
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			prefix, err := netip.ParsePrefix(pool)
			if err != nil {
				return fmt.Errorf("--load-balancer-pool %q is not an address range such as 198.18.1.0/24: %w", pool, err)
			}
			return run(ctx, kubeconfig, prefix, volumes)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the kubeconfig to work with")
	command.Flags().StringVar(&pool, "load-balancer-pool", "", "the addresses to give away, for example 198.18.1.0/24")
	command.Flags().StringVar(&volumes, "volumes", "", "the folder of the local volumes; none outside it is ever emptied")
	for _, name := range []string{"kubeconfig", "load-balancer-pool", "volumes"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

func run(ctx context.Context, kubeconfig string, pool netip.Prefix, volumes string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	addresses, err := newAddressController(client, factory.Core().V1().Services(), pool)
	if err != nil {
		return err
	}
	recycler, err := newVolumeRecycler(client, factory.Core().V1().PersistentVolumes(), volumes)
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go recycler.run(ctx)
	addresses.run(ctx)
	return nil
}
