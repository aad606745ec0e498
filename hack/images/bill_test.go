package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestABillListsEveryModule reads the list of every binary, and compares one with what is in the binary itself.
func TestABillListsEveryModule(t *testing.T) {
	dir, _ := first(t)
	for _, p := range programs {
		for _, platform := range platforms() {
			d := readBill(t, filepath.Join(dir, "sbom", p.Name+"-"+platform.OS+"-"+platform.Architecture+".spdx.json"))
			checkReferences(t, d)
			main := d.Packages[0]
			if main.Name != module || main.FileName != p.binary() || (main.Version == "0.1.0-test.1") != p.Versioned {
				t.Errorf("the list of %s is of %+v", p.Name, main)
			}
			if len(d.Packages) < 4 { // itself, the standard library, and at least two modules
				t.Errorf("%s has %d modules", p.Name, len(d.Packages))
			}
		}
	}
}

func TestABillIsOfTheBinary(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOf(programs[0], all[0], self, "1")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bill.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, p := range readBill(t, file).Packages {
		listed[p.Name] = p.Version
	}
	for _, dep := range info.Deps {
		if listed[dep.Path] != dep.Version {
			t.Errorf("%s %s is listed as %q", dep.Path, dep.Version, listed[dep.Path])
		}
	}
	if len(info.Deps) == 0 || len(listed) != len(info.Deps)+2 {
		t.Errorf("%d packages for %d modules", len(listed), len(info.Deps))
	}
}

func readBill(t *testing.T, file string) (d document) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	if d.Version != "SPDX-2.3" || d.DataLicense != "CC0-1.0" || d.ID != documentID || d.Name == "" || d.Namespace == "" {
		t.Errorf("%s is no SPDX document: %+v", file, d)
	}
	return d
}

// checkReferences: every package is named by exactly one relationship, and every relationship names a package.
func checkReferences(t *testing.T, d document) {
	t.Helper()
	named := map[string]int{}
	for _, r := range d.Relationships {
		named[r.Related]++
	}
	for _, p := range d.Packages {
		if named[p.ID] != 1 || p.DownloadLocation == "" {
			t.Errorf("package %s (%s) is named %d times", p.Name, p.ID, named[p.ID])
		}
		delete(named, p.ID)
	}
	if len(named) > 0 {
		t.Errorf("relationships name no package: %v", named)
	}
}
