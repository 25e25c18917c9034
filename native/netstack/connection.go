package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
)

const (
	// Bytes on their way to the JavaScript side that it has not taken yet, at most.
	window      = 512 << 10
	readBytes   = 64 << 10
	dialTimeout = 30 * time.Second

	reasonPolicy = "policy"
)

// A TCP connection or UDP flow whose other end the JavaScript side holds. What it sends is bounded by the credit that it gets
// back. Each chunk of a flow is one datagram.
type connection struct {
	node   *node
	number uint32
	cancel context.CancelFunc
	// A UDP flow ends after so long without a datagram; 0 for TCP.
	idle time.Duration
	// The peer that opened it; not valid where this node did.
	peer netip.Addr

	mutex   sync.Mutex
	changed *sync.Cond
	stream  net.Conn
	key     flowKey
	// To be written, in order.
	pending [][]byte
	isEnded bool
	credit  int
	isOver  bool
}

func newConnection(n *node, number uint32, idle time.Duration, cancel context.CancelFunc) *connection {
	c := &connection{node: n, number: number, idle: idle, cancel: cancel, credit: window}
	c.changed = sync.NewCond(&c.mutex)
	return c
}

func (c *connection) protocol() byte {
	if c.idle > 0 {
		return protocolUDP
	}
	return protocolTCP
}

func (c *connection) dial(ctx context.Context, to netip.AddrPort) {
	if c.node.link == nil {
		c.over(errNoStack.Error())
		return
	}
	if !c.node.filter.mayOpen(c.protocol(), to.Addr(), to.Port()) && !slices.Contains(c.node.own(), to.Addr()) {
		c.over(reasonPolicy)
		return
	}
	stream, err := c.open(ctx, fullAddress(to.Addr(), to.Port()), networkOf(to.Addr()))
	if err != nil {
		c.over(reasonOf(err))
		return
	}
	if c.attach(stream) {
		emit(numbered(frameDial, c.node.number, c.number, ""))
		c.run()
	}
}

func (c *connection) open(ctx context.Context, to tcpip.FullAddress, network tcpip.NetworkProtocolNumber) (net.Conn, error) {
	if c.idle > 0 {
		return gonet.DialUDP(c.node.link.stack, nil, &to, network)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return gonet.DialContextTCP(ctx, c.node.link.stack, to, network)
}

// False where it has ended meanwhile.
func (c *connection) attach(stream net.Conn) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.isOver {
		stream.Close()
		return false
	}
	c.stream = stream
	local, remote := addrPortOf(stream.LocalAddr()), addrPortOf(stream.RemoteAddr())
	c.key = flowKey{c.protocol(), local.Port(), remote.Addr(), remote.Port()}
	return true
}

func addrPortOf(address net.Addr) netip.AddrPort {
	one, ok := address.(interface{ AddrPort() netip.AddrPort })
	if !ok {
		return netip.AddrPort{}
	}
	at := one.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

func (c *connection) run() {
	var written sync.WaitGroup
	written.Go(c.write)
	err := c.read()
	var network net.Error
	if c.idle > 0 && errors.As(err, &network) && network.Timeout() {
		c.finish()
		return
	}
	if err != io.EOF {
		c.over(reasonOf(err))
		return
	}
	emit(numbered(frameEnd, c.node.number, c.number, ""))
	written.Wait()
	c.over("")
}

func (c *connection) read() error {
	buffer := make([]byte, readBytes)
	for {
		c.mutex.Lock()
		for c.credit <= 0 && !c.isOver {
			c.changed.Wait()
		}
		size := min(c.credit, readBytes)
		isOver := c.isOver
		c.mutex.Unlock()
		if isOver {
			return net.ErrClosed
		}
		if c.idle > 0 {
			// A datagram is read whole.
			size = readBytes
			c.keep()
		}
		n, err := c.stream.Read(buffer[:size])
		if n > 0 || err == nil {
			c.mutex.Lock()
			c.credit -= n
			c.mutex.Unlock()
			frame := binary.LittleEndian.AppendUint32(newFrame(frameData, c.node.number, n), c.number)
			emit(append(frame, buffer[:n]...))
		}
		if err != nil {
			return err
		}
	}
}

func (c *connection) write() {
	for {
		c.mutex.Lock()
		for len(c.pending) == 0 && !c.isEnded && !c.isOver {
			c.changed.Wait()
		}
		pending := c.pending
		c.pending = nil
		isOver, isEnded := c.isOver, c.isEnded
		c.mutex.Unlock()
		if isOver {
			return
		}
		for _, bytes := range pending {
			if c.idle > 0 {
				c.keep()
			}
			if _, err := c.stream.Write(bytes); err != nil {
				c.over(reasonOf(err))
				return
			}
			taken := binary.LittleEndian.AppendUint32(nil, uint32(len(bytes)))
			emit(numbered(frameCredit, c.node.number, c.number, string(taken)))
		}
		if isEnded && len(pending) == 0 {
			if tcp, ok := c.stream.(*gonet.TCPConn); ok {
				_ = tcp.CloseWrite()
			} else {
				c.finish()
			}
			return
		}
	}
}

// Begins the time without a datagram anew.
func (c *connection) keep() {
	_ = c.stream.SetReadDeadline(time.Now().Add(c.idle))
}

// Ends a UDP flow, which has no half.
func (c *connection) finish() {
	emit(numbered(frameEnd, c.node.number, c.number, ""))
	c.over("")
}

func (c *connection) put(bytes []byte) {
	c.change(func() { c.pending = append(c.pending, bytes) })
}

func (c *connection) end() {
	c.change(func() { c.isEnded = true })
}

func (c *connection) addCredit(bytes int) {
	c.change(func() { c.credit += bytes })
}

func (c *connection) change(apply func()) {
	c.mutex.Lock()
	apply()
	c.mutex.Unlock()
	c.changed.Broadcast()
}

// Ends it in both directions and says why, once.
func (c *connection) over(reason string) {
	c.mutex.Lock()
	if c.isOver {
		c.mutex.Unlock()
		return
	}
	c.isOver = true
	stream := c.stream
	c.mutex.Unlock()
	c.changed.Broadcast()
	c.cancel()
	if stream != nil {
		stream.Close()
	}
	c.node.forget(c.number)
	emit(numbered(frameReset, c.node.number, c.number, reason))
}

func reasonOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	return err.Error()
}
