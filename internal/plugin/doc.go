// Package plugin is `kubectl statecraft`: it reads objects with the rights of whoever asks, and
// lets package explain say what they mean. It reads no Secret, and writes nothing but what a person
// decided about an execution.
package plugin
