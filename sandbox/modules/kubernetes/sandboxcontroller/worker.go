package sandboxcontroller

import (
	"context"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// worker calls reconcile for one object after the other, again after a while where it failed.
type worker struct {
	queue     workqueue.TypedRateLimitingInterface[string]
	reconcile func(ctx context.Context, key string) error
}

func newWorker(informer cache.SharedIndexInformer, reconcile func(context.Context, string) error) (*worker, error) {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](100*time.Millisecond, 10*time.Second)
	w := &worker{queue: workqueue.NewTypedRateLimitingQueue(limiter), reconcile: reconcile}
	enqueue := func(object any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil {
			w.queue.Add(key)
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, updated any) { enqueue(updated) },
		DeleteFunc: enqueue,
	})
	return w, err
}

// run works until the context ends. There is one of it a queue, so that reconcile needs no lock.
func (w *worker) run(ctx context.Context) {
	go func() {
		<-ctx.Done()
		w.queue.ShutDown()
	}()
	for {
		key, stop := w.queue.Get()
		if stop {
			return
		}
		if err := w.reconcile(ctx, key); err != nil {
			klog.ErrorS(err, "will try again", "object", key)
			w.queue.AddRateLimited(key)
		} else {
			w.queue.Forget(key)
		}
		w.queue.Done(key)
	}
}
