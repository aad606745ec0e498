package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/config"
)

const (
	// shopPolicy narrows the default pack for one app.
	shopPolicy = "package statecraft.remediation\n\ndeny contains \"the till is closed\" if input.request.target.labels.app == \"till\"\n"
	// shopTest asks whether it does.
	shopTest = `package shop_test

import data.statecraft.remediation

asked(app) := {
  "request": {"action": "scale_deployment", "parameters": {"replicas": 3}, "target": {"labels": {"app": app}}},
  "namespace": {"name": "shop", "labels": {}},
  "executions": {"inNamespace": 0},
  "change": {"changes": []},
}

test_the_till_is_left_alone if {
  remediation.allow with input as asked("web")
  not remediation.allow with input as asked("till")
}
`
)

// write writes files into a new directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func configMap(t *testing.T, name, label string, data map[string]string) string {
	t.Helper()
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": name, "labels": map[string]any{"remediation.statecraft.dev/policy": label}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A pack is tried as it would decide: with the default pack, with what policies can call, and compiled without its tests.
func TestPolicyTest(t *testing.T) {
	manifest := configMap(t, "shop", "true", map[string]string{"shop.rego": shopPolicy, "shop_test.rego": shopTest})
	for name, tc := range map[string]struct {
		files map[string]string
		args  []string
		code  int
		says  string
	}{
		"modules": {files: map[string]string{"shop.rego": shopPolicy, "deep/shop_test.rego": shopTest}, code: AsWished,
			says: "deep/shop_test.rego ok line 12: test_the_till_is_left_alone 1 of 1 tests passed."},
		"a manifest":                {files: map[string]string{"shop.yaml": manifest}, code: AsWished, says: "shop/shop_test.rego ok line 12: test_the_till_is_left_alone"},
		"a manifest with others":    {files: map[string]string{"all.yaml": "kind: Service\napiVersion: v1\n---\n" + manifest}, code: AsWished, says: "1 of 1 tests passed."},
		"a policy that is missing":  {files: map[string]string{"shop_test.rego": shopTest}, code: NotAsWished, says: "shop_test.rego FAIL line 12: test_the_till_is_left_alone the test is not true 0 of 1 tests passed."},
		"a ConfigMap without label": {files: map[string]string{"shop.yaml": configMap(t, "shop", "false", map[string]string{"shop.rego": shopPolicy}), "shop_test.rego": shopTest}, code: NotAsWished, says: "0 of 1 tests passed."},
		"the pack alone":            {files: map[string]string{"shop.rego": shopPolicy, "shop_test.rego": shopTest}, args: []string{"--without-defaults"}, code: NotAsWished, says: "0 of 1"},
		"no tests":                  {files: map[string]string{"shop.rego": shopPolicy}, code: NotAsWished, says: "There are no tests"},
		"nothing":                   {code: NotAsWished, says: "There are no tests"},
		"a call that is not allowed": {files: map[string]string{"shop.rego": shopPolicy + "\ndeny contains \"x\" if http.send({\"method\": \"get\", \"url\": \"http://a\"})\n", "shop_test.rego": shopTest},
			code: NotAsWished, says: "The pack does not compile, and would deny every execution: shop.rego:5"},
		"no Rego": {files: map[string]string{"shop.rego": "allow"}, code: NotAsWished, says: "does not compile"},
		"a rule that only a test module has": {files: map[string]string{
			"shop.rego":      "package statecraft.remediation\n\ndeny contains \"x\" if closed(input)\n",
			"shop_test.rego": "package statecraft.remediation\n\nclosed(_) if false\n\ntest_it if true\n",
		}, code: NotAsWished, says: "does not compile"},
		"a manifest that is none": {files: map[string]string{"shop.yaml": "{"}, code: CouldNotLook, says: "read shop.yaml"},
	} {
		var out, problems strings.Builder
		args := append([]string{"policy", "test", write(t, tc.files)}, tc.args...)
		code := Run(t.Context(), args, &out, &problems)
		text := out.String() + problems.String()
		if code != tc.code || !strings.Contains(squeezed(text), squeezed(tc.says)) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// A list of ConfigMaps, as kubectl prints it, is read from the standard input. The default pack passes its own tests.
func TestPolicyTestOfAManifest(t *testing.T) {
	objects, err := config.Objects("remediation", config.Namespace, config.Defaults)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{}}
	for _, o := range objects {
		list["items"] = append(list["items"].([]any), o.Object)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := NewCommand()
	cmd.SetIn(strings.NewReader(string(text)))
	var out, problems strings.Builder
	code := run(t.Context(), cmd, []string{"policy", "test", "-", "-o", "json"}, &out, &problems)
	var is trial
	if err := json.Unmarshal([]byte(out.String()), &is); err != nil || code != AsWished || len(is.Tests) < 15 {
		t.Errorf("%d, %d tests, %v: %s", code, len(is.Tests), err, problems.String())
	}
}
