//go:build js && wasm

// Command netstack is WireGuard and TCP/IP without an interface, for nodes without root.
package main

import "syscall/js"

func main() {
	global := js.Global()
	array := global.Get("Uint8Array")
	receive := global.Get("netstackReceive")
	global.Set("netstackSend", js.FuncOf(func(_ js.Value, arguments []js.Value) any {
		frames := make([]byte, arguments[0].Length())
		js.CopyBytesToGo(frames, arguments[0])
		handle(frames)
		return nil
	}))
	flush(func(frames []byte) {
		bytes := array.New(len(frames))
		js.CopyBytesToJS(bytes, frames)
		receive.Invoke(bytes)
	})
}
