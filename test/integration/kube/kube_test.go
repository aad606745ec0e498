// Package kube tests the adapter on a real API server: what it rests on (UIDs,
// resource versions, server-side apply, watches) cannot be shown on a fake.
package kube

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard()) // the client insists on one
	if order := os.Getenv(contenderEnv); order != "" {
		fmt.Fprintln(os.Stderr, "contender:", contend(order))
		os.Exit(1)
	}
	if kubeconfig := os.Getenv(slowLeaderEnv); kubeconfig != "" {
		if err := leadSlowly(kubeconfig, os.Getenv(slowLeaderFolderEnv)); err != nil {
			fmt.Fprintln(os.Stderr, "slow leader:", err)
			os.Exit(1)
		}
		return
	}
	bedtest.Main(m)
}

// Waiting, named once.
const (
	soon    = timeout.Wait
	poll    = 50 * time.Millisecond   // between two looks
	restful = 1500 * time.Millisecond // longer than effects are left alone
)

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, capturev1.AddToScheme, kubetest.AddToScheme,
	} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// lamps is the shared control plane, with lamps installed.
func lamps(t testing.TB) *bed.Bed {
	t.Helper()
	b := bedtest.ControlPlane(t)
	bedtest.InstallCRDs(t, b, "testdata")
	return b
}

func newClient(t testing.TB, cfg *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newWatchClient(t testing.TB, cfg *rest.Config) client.WithWatch {
	t.Helper()
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// envOf is an environment whose reads are all live.
func envOf(c client.Client, namespace string) kube.Env {
	return kube.Env{Client: c, Live: c, Now: time.Now, Namespace: namespace}
}

func create[T client.Object](t testing.TB, c client.Client, obj T) T {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// get reads obj anew.
func get[T client.Object](t testing.TB, c client.Client, obj T) T {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func lampOf(namespace, name string) *kubetest.Lamp {
	return &kubetest.Lamp{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func objectMeta(namespace, name string, owner *kubetest.Lamp) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: namespace, Name: name}
	if owner != nil {
		m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, kubetest.GroupVersion.WithKind("Lamp"))}
	}
	return m
}
