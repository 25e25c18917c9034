import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { createInterface } from 'node:readline';
import { FirewallKeeper } from '../../../client/agent/firewall-keeper.ts';
import { nftablesFirewall } from '../../../client/firewall/nftables.ts';
import type { OwnAddress } from '../../../client/firewall/own-address.ts';
import { platformFirewall } from '../../../client/firewall/platform.ts';
import { askDns } from '../../../client/lookup.ts';
import type { Connectivity } from '../../../client/paths/connectivity.ts';
import { startConnectivity } from '../../../client/paths/runtime.ts';
import type { PathStatus } from '../../../client/paths/status.ts';
import type { Place } from '../../../client/places.ts';
import { linuxTunnels } from '../../../client/tunnel/linux.ts';
import type { Tunnel, TunnelOptions, TunnelPeer } from '../../../client/tunnel/tunnel.ts';
import { silentLog } from '../../../core/base/silent-log.ts';
import type { FirewallRules, FullGraph } from '../../../core/model/graph.ts';
import { RelayListener } from '../../../net/relay/listener.ts';
import { keyPairOf } from '../../../net/seal/x25519.ts';
import { StunListener } from '../../../net/stun/listener.ts';
import { tryLoopback } from '../../natlab/loopback-trial.ts';
import { floodUdp, LiveConnection, probe, serveEcho, type Target, UdpCounter, UdpTalk } from './natlab-packets.ts';

/**
 * Runs inside a lab's namespace: tunnel, firewall and paths of one interface, called by lines of JSON `{id, method, args}`
 * and answered by lines `{id, answer}` or `{id, error}`; what happens by itself is told in lines `{event}`. Bytes come and go
 * in base64. `node natlab-parts-worker.ts <interface>`
 */
export type PartsEvent =
  | { readonly type: 'signal'; readonly subject: string; readonly sealed: string }
  | { readonly type: 'status'; readonly status: PathStatus };

const [interfaceName = ''] = process.argv.slice(2);
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const tell = (event: PartsEvent) => say({ event });
const clock = { now: () => Date.now() };
let firewall = nftablesFirewall(interfaceName);
let tunnel: Tunnel | undefined;
let paths: Connectivity | undefined;
let loopback: Awaited<ReturnType<typeof tryLoopback>> | undefined;
let talk: UdpTalk | undefined;
let live: LiveConnection | undefined;
let keeper: FirewallKeeper | undefined;
let restored = 0;
let counter: UdpCounter | undefined;
let relay: RelayListener | undefined;
const opened = () => {
  if (!tunnel) throw new Error('The tunnel is not open.');
  return tunnel;
};

const methods = {
  obstacles: () => linuxTunnels.obstacles(),
  collisions: (cidr: string) => linuxTunnels.collisions(cidr, interfaceName),
  recover: () => linuxTunnels.recover(interfaceName),
  async open(options: Pick<TunnelOptions, 'address' | 'cidr'> & { privateKey: string }) {
    const privateKey = Buffer.from(options.privateKey, 'base64');
    tunnel = await linuxTunnels.open({
      ...options,
      interfaceName,
      privateKey,
      listenPort: 51_820,
      mtu: 1_280,
      log: silentLog,
    });
    return { kind: tunnel.kind, listenPort: tunnel.listenPort };
  },
  change: (put: TunnelPeer[], removed: string[]) => opened().change(put, removed),
  setEndpoint: (key: string, address: string, port: number) => opened().setEndpoint(key, { address, port }),
  setPrivateKey: (key: string) => opened().setPrivateKey(Buffer.from(key, 'base64')),
  setPlaces: (...places: Place[]) => opened().setPlaces(places),
  peers: () => opened().peers(),
  ended: () => opened().ended,
  async close() {
    await paths?.close();
    await opened().close();
  },
  /** Connects the open tunnel to the peers of a graph. */
  async startPaths(graph: FullGraph, privateKey: string) {
    const connectivity = await startConnectivity({
      keyPair: keyPairOf(Buffer.from(privateKey, 'base64')),
      workspaceId: 'w',
      graph,
      tunnel: opened(),
      publish: (subject, sealed) => tell({ type: 'signal', subject, sealed: Buffer.from(sealed).toString('base64') }),
      known: new Map(),
      lookup: askDns,
      remember: () => {},
      onCredentialExpired: () => {},
      log: silentLog,
    });
    paths = connectivity;
    connectivity.onChange((status) => tell({ type: 'status', status }));
    const endpoints = await connectivity.admit(graph);
    const peers = graph.peers.map(({ publicKey, allowedIps }): TunnelPeer => {
      const endpoint = endpoints.get(publicKey);
      return { publicKey, allowedIps, keepalive: 0, ...(endpoint && { endpoint }) };
    });
    await opened().change(peers, []);
    connectivity.updateGraph(graph);
  },
  busState: (state: 'up' | 'down') => paths?.busState(state),
  receiveSignal: (subject: string, sealed: string) => paths?.receiveSignal(subject, Buffer.from(sealed, 'base64')),
  /** What paths need of a control plane. */
  async serveRelayAndStun(token: string) {
    relay = new RelayListener({ host: '0.0.0.0', port: 6266, token, clock });
    await relay.start();
    await new StunListener({ host: '::', port: 3478, clock }).start();
  },
  /** As on SIGTERM. */
  stopRelay: () => relay?.stop(),
  relays: () => paths?.metrics().relay.all,
  relaysOfPeers: () => paths?.statuses().map(({ relay: name }) => name),
  async openLoopback(...args: Parameters<typeof tryLoopback>) {
    loopback = await tryLoopback(...args);
    return loopback.report;
  },
  async deliverByLoopback(packets: readonly string[]) {
    const got = await loopback?.deliver(packets.map((packet) => Buffer.from(packet, 'base64')));
    return got?.map((packet) => packet.toString('base64'));
  },
  closeLoopback: () => loopback?.close(),
  /** @param own the first IPv4 address of the interface unless given */
  apply: (rules: FirewallRules, now: number, own: OwnAddress = firstAddress()) =>
    timed(() => firewall.apply(own, rules, now)),
  /** Of a firewall that is applied from now on. */
  leaseFor(leaseMs: number) {
    firewall = nftablesFirewall(interfaceName, { leaseMs });
  },
  /** As an agent does: with its guard, and put back as soon as something removed it. */
  async keepFirewall(rules: FirewallRules, now: number) {
    firewall = platformFirewall('linux', interfaceName);
    await firewall.apply(firstAddress(), rules, now);
    // The guard is in force once the looks that follow are over.
    await firewall.maintain();
    keeper = new FirewallKeeper({
      firewall,
      interfaceName,
      log: silentLog,
      onHostChanged: () => {},
      onRestored: () => (restored += 1),
    });
  },
  restored: () => restored,
  async stopKeeping() {
    await keeper?.stop();
    await firewall.close();
  },
  maintain: () => firewall.maintain(),
  /** @returns milliseconds of processor time that one check takes, programs it runs included, over `checks` of them */
  async maintenanceCost(checks: number) {
    const before = processorTime();
    for (let i = 0; i < checks; i += 1) await firewall.maintain();
    return (processorTime() - before) / checks;
  },
  closeFirewall: () => firewall.close(),
  serve: (ports: number[]) => serveEcho(ports),
  probe: (targets: Target[], timeoutMs: number) => probe(targets, timeoutMs),
  async connect(address: string, port: number) {
    live = await LiveConnection.open(address, port);
  },
  async talkOn(port: number) {
    talk = await UdpTalk.listen(port);
  },
  async countOn(port: number) {
    counter = await UdpCounter.listen(port);
  },
  /** Datagrams that came, and the longest time without one. */
  counted: () => counter?.report,
  flood: (address: string, port: number, forMs: number) => floodUdp(address, port, forMs),
  say: (to?: { address: string; port: number }) => talk?.say(to),
  hears: (timeoutMs: number) => talk?.hears(timeoutMs),
  echoes: (timeoutMs: number) => live?.echoes(timeoutMs),
} as const;

export type PartsMethods = typeof methods;

/** On the loopback, one that was added. */
function firstAddress(): OwnAddress {
  const first = networkInterfaces()[interfaceName]?.find((one) => one.family === 'IPv4' && one.address !== '127.0.0.1');
  if (!first?.cidr) throw new Error(`${interfaceName} has no IPv4 address.`);
  return { address: first.address, cidr: first.cidr };
}

/** Milliseconds of this process and of those it has waited for, to 10 ms. */
function processorTime(): number {
  // proc(5): utime, stime, cutime and cstime are fields 14 to 17, the second field ends with the last bracket.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

async function timed(run: () => Promise<void>): Promise<{ elapsedMs: number; processorMs: number }> {
  const [startedAt, before] = [performance.now(), processorTime()];
  await run();
  return { elapsedMs: performance.now() - startedAt, processorMs: processorTime() - before };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, args } = JSON.parse(line) as { id: number; method: keyof PartsMethods; args: unknown[] };
  const call = methods[method] as (...args: unknown[]) => unknown;
  // Calls run side by side: `ended` is asked for long before it is answered.
  void Promise.resolve()
    .then(() => call(...args))
    .then(
      (answer) => ({ id, answer: answer ?? null }),
      (error: Error) => ({ id, error: error.message }),
    )
    .then(say);
}
process.exit();
