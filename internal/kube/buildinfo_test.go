package kube

import (
	"runtime"
	"testing"
)

func TestBuildInfoIsServed(t *testing.T) {
	sample := `statecraft_build_info{commit="",goversion="` + runtime.Version() + `",version="dev"}`
	if got := served(t, sample); got != "1" {
		t.Errorf("%s is %s", sample, got)
	}
}
