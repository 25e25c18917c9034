package main

import (
	"encoding/binary"
	"runtime"
	"sync"
)

// All nodes of this instance, and the frames that wait to leave it.
var host = struct {
	mutex sync.Mutex
	nodes map[uint32]*node
	out   []byte
	wake  chan struct{}
}{nodes: map[uint32]*node{}, wake: make(chan struct{}, 1)}

// Bytes that may wait for the JavaScript side. Datagrams beyond are lost, as on the network.
const maxWaiting = 16 << 20

func isBehind() bool {
	host.mutex.Lock()
	defer host.mutex.Unlock()
	return len(host.out) > maxWaiting
}

func emit(frame []byte) {
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-4))
	host.mutex.Lock()
	host.out = append(host.out, frame...)
	host.mutex.Unlock()
	select {
	case host.wake <- struct{}{}:
	default:
	}
}

// Hands frames to `send`, as many at once as are there when everyone else has had a turn.
func flush(send func(frames []byte)) {
	for range host.wake {
		runtime.Gosched()
		host.mutex.Lock()
		frames := host.out
		host.out = make([]byte, 0, min(cap(frames), 1<<20))
		host.mutex.Unlock()
		if len(frames) > 0 {
			send(frames)
		}
	}
}

// Takes frames in; they must not change afterwards.
func handle(frames []byte) {
	for len(frames) >= 4 {
		size := int(binary.LittleEndian.Uint32(frames))
		if size < 5 || size > len(frames)-4 {
			return
		}
		r := &reader{bytes: frames[4 : 4+size]}
		frames = frames[4+size:]
		handleOne(r.u8(), r.u32(), r)
	}
}

func handleOne(kind byte, number uint32, r *reader) {
	host.mutex.Lock()
	one, ok := host.nodes[number]
	host.mutex.Unlock()
	switch {
	case kind == frameOpen:
		call, mtu, hasInterface, address := r.u32(), r.u16(), r.u8() == 1, r.address()
		go open(number, call, r, func() (*node, error) { return openNode(number, int(mtu), address, hasInterface) })
	case !ok:
	case kind == frameClose:
		host.mutex.Lock()
		delete(host.nodes, number)
		host.mutex.Unlock()
		go one.close()
	default:
		one.handle(kind, r)
	}
}

func open(number, call uint32, r *reader, make func() (*node, error)) {
	if r.bad {
		emit(numbered(frameOpen, number, call, "the request cannot be read"))
		return
	}
	one, err := make()
	if err == nil {
		host.mutex.Lock()
		host.nodes[number] = one
		host.mutex.Unlock()
	}
	emit(numbered(frameOpen, number, call, textOf(err)))
}
