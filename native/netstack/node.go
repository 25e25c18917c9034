package main

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.zx2c4.com/wireguard/device"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/icmp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
	"gvisor.dev/gvisor/pkg/waiter"
)

// WireGuard and TCP/IP of one node.
type node struct {
	number uint32
	filter *filter
	inside inside
	// Where packets end in this module; nil for a node that has an interface.
	link *link
	// The interface of a node that has one.
	packets *packetLink
	bind    *bind
	device  *device.Device
	// Requests that may wait, one after the other.
	requests chan func()

	mutex sync.Mutex
	// The present one first. A second one is that before a renumbering of its network.
	addresses   []netip.Addr
	connections map[uint32]*connection
	listeners   map[uint32]func()
	accepted    uint32
	// UDP ports that are served, and how many connections and flows each peer has here.
	served map[uint16]datagramPort
	taken  map[netip.Addr]int
}

type datagramPort struct {
	listener uint32
	idle     time.Duration
}

// Connections and UDP flows that one peer has at this node at once. Further ones are closed, or get no answer, until another has ended.
const maxOfPeer = 1024

// Connections that a listener takes are numbered apart from those that are dialed.
const acceptedBit = 1 << 31

func openNode(number uint32, mtu int, address netip.Addr, hasInterface bool) (*node, error) {
	n := &node{
		number: number, filter: newFilter(), bind: newBind(number), addresses: []netip.Addr{address},
		requests:    make(chan func(), 256),
		connections: map[uint32]*connection{}, listeners: map[uint32]func(){}, served: map[uint16]datagramPort{},
		taken: map[netip.Addr]int{},
	}
	if hasInterface {
		n.packets = newPacketLink(number, mtu, address, n.filter)
		n.inside = n.packets
	} else {
		link, err := newLink(mtu, n.filter)
		if err != nil {
			return nil, err
		}
		if err := link.addAddress(address); err != nil {
			return nil, err
		}
		n.link, n.inside = link, link
		forwarder := udp.NewForwarder(link.stack, n.acceptFlow)
		link.stack.SetTransportProtocolHandler(udp.ProtocolNumber, func(id stack.TransportEndpointID, packet *stack.PacketBuffer) bool {
			return n.isServed(id.LocalPort) && forwarder.HandlePacket(id, packet)
		})
	}
	n.device = device.NewDevice(n.inside, n.bind, &device.Logger{Verbosef: device.DiscardLogf, Errorf: device.DiscardLogf})
	go func() {
		for run := range n.requests {
			run()
		}
	}()
	return n, n.device.Up()
}

func (n *node) close() {
	close(n.requests)
	for _, one := range n.all() {
		one.over("closed")
	}
	n.mutex.Lock()
	for _, unlisten := range n.listeners {
		unlisten()
	}
	n.mutex.Unlock()
	n.device.Close()
}

func (n *node) all() []*connection {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	all := make([]*connection, 0, len(n.connections))
	for _, one := range n.connections {
		all = append(all, one)
	}
	return all
}

func (n *node) handle(kind byte, r *reader) {
	switch kind {
	case frameDatagrams:
		from := netip.AddrPortFrom(r.address(), r.u16())
		segment := int(r.u16())
		if !r.bad {
			n.bind.receive(endpoint(from), r.bytes, segment)
		}
	case framePacket:
		if n.packets != nil {
			n.packets.receive(r.bytes)
		}
	case frameDial:
		number, idle, to := r.u32(), secondsOf(r.u16()), netip.AddrPortFrom(r.address(), r.u16())
		ctx, cancel := context.WithCancel(context.Background())
		one := newConnection(n, number, idle, cancel)
		n.mutex.Lock()
		n.connections[number] = one
		n.mutex.Unlock()
		go one.dial(ctx, to)
	case frameData, frameEnd, frameReset, frameCredit:
		n.handleConnection(kind, r)
	case frameUnlisten:
		n.mutex.Lock()
		defer n.mutex.Unlock()
		number := r.u32()
		if unlisten, ok := n.listeners[number]; ok {
			unlisten()
			delete(n.listeners, number)
		}
	default:
		call := r.u32()
		// Two requests that wait do not wait for each other.
		if kind == framePing {
			go n.ping(call, time.Duration(r.u32())*time.Millisecond, int(r.u16()), r.address())
			return
		}
		n.requests <- func() { emit(numbered(kind, n.number, call, n.answer(kind, call, r))) }
	}
}

func (n *node) handleConnection(kind byte, r *reader) {
	n.mutex.Lock()
	one, ok := n.connections[r.u32()]
	n.mutex.Unlock()
	if !ok {
		return
	}
	switch kind {
	case frameData:
		one.put(r.bytes)
	case frameEnd:
		one.end()
	case frameCredit:
		one.addCredit(int(r.u32()))
	case frameReset:
		go one.over("closed")
	}
}

func (n *node) answer(kind byte, call uint32, r *reader) string {
	switch kind {
	case frameConfigure:
		return n.configure(string(r.bytes))
	case frameAddress:
		to := []netip.Addr{r.address()}
		for len(r.bytes) > 0 && !r.bad {
			to = append(to, r.address())
		}
		if r.bad {
			return "the addresses cannot be read"
		}
		return textOf(n.move(to))
	case frameRules:
		in, out := readPermissions(r), readPermissions(r)
		if r.bad {
			return "the rules cannot be read"
		}
		n.cut(n.filter.use(in, out))
		return ""
	case frameListen:
		return textOf(n.listen(call, secondsOf(r.u16()), r.u16()))
	}
	return "unknown request"
}

func secondsOf(count uint16) time.Duration { return time.Duration(count) * time.Second }

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The text protocol of WireGuard's userspace implementations (wireguard.com/xplatform).
func (n *node) configure(request string) string {
	if strings.HasPrefix(request, "get=1") {
		text, err := n.device.IpcGet()
		if err != nil {
			return "errno=1\n\n"
		}
		return text + "errno=0\n\n"
	}
	if err := n.device.IpcSet(strings.TrimSuffix(strings.TrimPrefix(request, "set=1\n"), "\n")); err != nil {
		return "errno=22\n\n"
	}
	return "errno=0\n\n"
}

// New addresses are there before others go.
func (n *node) move(to []netip.Addr) error {
	before := n.own()
	for _, address := range to {
		if !slices.Contains(before, address) {
			if err := n.inside.addAddress(address); err != nil {
				return err
			}
		}
	}
	for _, address := range before {
		if !slices.Contains(to, address) {
			n.inside.removeAddress(address)
		}
	}
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.addresses = to
	return nil
}

func (n *node) own() []netip.Addr {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return n.addresses
}

func (n *node) cut(flows []flowKey) {
	if len(flows) == 0 {
		return
	}
	cut := make(map[flowKey]bool, len(flows))
	for _, key := range flows {
		cut[key] = true
	}
	for _, one := range n.all() {
		if one.stream != nil && cut[one.key] {
			go one.over(reasonPolicy)
		}
	}
}

func (n *node) listen(number uint32, idle time.Duration, port uint16) error {
	if n.link == nil {
		return errNoStack
	}
	if idle > 0 {
		return n.listenFlows(number, datagramPort{number, idle}, port)
	}
	// On whatever addresses it has by then.
	listener, err := gonet.ListenTCP(n.link.stack, tcpip.FullAddress{NIC: nic, Port: port}, networkOf(n.own()[0]))
	if err != nil {
		return err
	}
	n.mutex.Lock()
	n.listeners[number] = func() { listener.Close() }
	n.mutex.Unlock()
	go func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			n.accept(number, 0, stream)
		}
	}()
	return nil
}

func (n *node) listenFlows(number uint32, served datagramPort, port uint16) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if _, ok := n.served[port]; ok {
		return errors.New("port is in use")
	}
	n.served[port] = served
	n.listeners[number] = func() { delete(n.served, port) }
	return nil
}

func (n *node) isServed(port uint16) bool {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	_, ok := n.served[port]
	return ok
}

// Takes a datagram of a peer that belongs to no flow yet.
func (n *node) acceptFlow(request *udp.ForwarderRequest) {
	n.mutex.Lock()
	served, ok := n.served[request.ID().LocalPort]
	n.mutex.Unlock()
	if !ok {
		return
	}
	var queue waiter.Queue
	if flow, err := request.CreateEndpoint(&queue); err == nil {
		n.accept(served.listener, served.idle, gonet.NewUDPConn(&queue, flow))
	}
}

func (n *node) accept(listener uint32, idle time.Duration, stream net.Conn) {
	from := addrPortOf(stream.RemoteAddr())
	n.mutex.Lock()
	if n.taken[from.Addr()] >= maxOfPeer {
		n.mutex.Unlock()
		stream.Close()
		return
	}
	n.taken[from.Addr()]++
	n.accepted++
	one := newConnection(n, n.accepted|acceptedBit, idle, func() {})
	one.peer = from.Addr()
	n.connections[one.number] = one
	n.mutex.Unlock()
	if !one.attach(stream) {
		return
	}
	frame := numbered(frameAccepted, n.number, listener, "")
	frame = appendAddress(binary.LittleEndian.AppendUint32(frame, one.number), from.Addr())
	emit(binary.LittleEndian.AppendUint16(frame, from.Port()))
	go one.run()
}

func (n *node) forget(number uint32) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if one := n.connections[number]; one != nil && one.peer.IsValid() {
		if n.taken[one.peer]--; n.taken[one.peer] == 0 {
			delete(n.taken, one.peer)
		}
	}
	delete(n.connections, number)
}

func (n *node) ping(call uint32, wait time.Duration, size int, to netip.Addr) {
	emit(numbered(framePing, n.number, call, textOf(n.echo(wait, size, to))))
}

func (n *node) echo(wait time.Duration, size int, to netip.Addr) error {
	if n.link == nil {
		return errNoStack
	}
	protocol, request, icmpProtocol, headers := icmp.ProtocolNumber4, byte(header.ICMPv4Echo), byte(protocolICMP), header.IPv4MinimumSize
	if to.Is6() {
		protocol, request, icmpProtocol, headers = icmp.ProtocolNumber6, byte(header.ICMPv6EchoRequest), protocolICMPv6, header.IPv6MinimumSize
	}
	own := n.own()
	if !n.filter.mayOpen(icmpProtocol, to, 0) && !slices.Contains(own, to) {
		return errors.New(reasonPolicy)
	}
	var queue waiter.Queue
	ep, err := n.link.stack.NewEndpoint(protocol, networkOf(to), &queue)
	if err != nil {
		return errors.New(err.String())
	}
	if err := ep.Bind(tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(own[0].AsSlice())}); err != nil {
		return errors.New(err.String())
	}
	if err := ep.Connect(fullAddress(to, 0)); err != nil {
		return errors.New(err.String())
	}
	socket := gonet.NewUDPConn(&queue, ep)
	defer socket.Close()
	// Identifier and checksum are the stack's.
	message := make([]byte, min(max(size-headers, header.ICMPv4MinimumSize), n.link.mtu-headers))
	message[0], message[7] = request, 1
	if _, err := socket.Write(message); err != nil {
		return errors.New(reasonOf(err))
	}
	_ = socket.SetReadDeadline(time.Now().Add(wait))
	if _, err := socket.Read(make([]byte, n.link.mtu)); err != nil {
		return errors.New("timeout")
	}
	return nil
}
