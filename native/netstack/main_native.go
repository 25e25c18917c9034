//go:build !js

// Command netstack is WireGuard and TCP/IP without an interface, for nodes without root. This build takes frames from its
// standard input, which ends it, and gives frames by its standard output.
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
)

const inputBytes = 256 << 10

func main() {
	go flush(func(frames []byte) {
		if _, err := os.Stdout.Write(frames); err != nil {
			os.Exit(1)
		}
	})
	input := bufio.NewReaderSize(os.Stdin, inputBytes)
	for {
		head, err := input.Peek(4)
		if err != nil {
			return
		}
		frame := make([]byte, 4+binary.LittleEndian.Uint32(head))
		if _, err := io.ReadFull(input, frame); err != nil {
			return
		}
		handle(frame)
	}
}
