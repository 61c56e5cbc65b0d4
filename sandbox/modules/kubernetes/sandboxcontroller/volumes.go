package sandboxcontroller

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
)

// volumeRecycler empties local volumes whose claim is gone and frees them for the next one. Kubernetes deletes local
// volumes for nobody, and a sandbox would run out of them after a few claims.
type volumeRecycler struct {
	*worker
	client  kubernetes.Interface
	volumes corelisters.PersistentVolumeLister
	folder  string
}

func newVolumeRecycler(
	client kubernetes.Interface,
	volumes coreinformers.PersistentVolumeInformer,
	folder string,
) (*volumeRecycler, error) {
	r := &volumeRecycler{client: client, volumes: volumes.Lister(), folder: filepath.Clean(folder)}
	var err error
	r.worker, err = newWorker(volumes.Informer(), r.reconcile)
	return r, err
}

func (r *volumeRecycler) reconcile(ctx context.Context, name string) error {
	volume, err := r.volumes.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if volume.Status.Phase != corev1.VolumeReleased || volume.Spec.Local == nil ||
		filepath.Dir(filepath.Clean(volume.Spec.Local.Path)) != r.folder {
		return nil
	}
	if err := empty(volume.Spec.Local.Path); err != nil {
		return err
	}
	// The version makes the API server refuse if the volume has changed since it was seen released.
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": volume.ResourceVersion},
		"spec":     map[string]any{"claimRef": nil},
	})
	if err != nil {
		return err
	}
	_, err = r.client.CoreV1().PersistentVolumes().Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		klog.InfoS("emptied and freed a volume", "volume", name)
	}
	return err
}

// empty removes all that is in a folder and gives the folder itself back to root, as it was before its first use.
func empty(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	if err := os.Chown(folder, 0, 0); err != nil {
		return err
	}
	return os.Chmod(folder, 0o755)
}
