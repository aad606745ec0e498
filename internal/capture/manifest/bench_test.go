package manifest

import (
	"fmt"
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// listOf is the answer of an API server to a LIST of ConfigMaps.
func listOf(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"metadata":{"name":"object-%d","namespace":"shop","uid":"5d3c3e0a-0000-4000-8000-%012d","resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z",`, i, i, i)
		b.WriteString(`"labels":{"app":"shop"},"managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:text":{}}}}]},`)
		b.WriteString(`"data":{"text":"`)
		for j := range 40 {
			fmt.Fprintf(&b, `setting-%d=%d\n`, (i*7+j*13)%500, i*j*7919%1_000_000)
		}
		b.WriteString(`"}}`)
	}
	b.WriteString("]}\n")
	return []byte(b.String())
}

func BenchmarkTake(b *testing.B) {
	body := listOf(1000)
	q := Query{Resource: Resource{Version: "v1", Resource: "configmaps", Kind: "ConfigMap"}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		in := NewIntake(&capturev1.ManifestCaptureRequestSpec{}, Plan{})
		page, err := ParsePage(body)
		if err != nil {
			b.Fatal(err)
		}
		for _, item := range page.Items {
			if _, err := in.Take(q, item); err != nil {
				b.Fatal(err)
			}
		}
	}
}
