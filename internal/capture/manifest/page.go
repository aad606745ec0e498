package manifest

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Page is one answer to a LIST.
type Page struct {
	metav1.ListMeta
	Items [][]byte // each an object, as it was sent
}

// ParsePage splits the answer to a LIST.
func ParsePage(body []byte) (Page, error) {
	fields, err := fieldsOf(body)
	if err != nil {
		return Page{}, fmt.Errorf("split list: %w", err)
	}
	var p Page
	for _, f := range fields {
		switch f.name {
		case "metadata":
			err = json.Unmarshal(f.value, &p.ListMeta)
		case "items":
			if string(f.value) != "null" {
				p.Items, err = itemsOf(f.value)
			}
		}
		if err != nil {
			return Page{}, fmt.Errorf("read %s of list: %w", f.name, err)
		}
	}
	return p, nil
}
