import { type FirewallRules, type FullGraph, firewallDigest, type GraphPeer } from '../../core/model/graph.ts';
import { NO_HOST_RULES } from '../firewall/host/host-rules.ts';
import type { Connectivity } from '../paths/connectivity.ts';
import type { OverlayParts } from './overlay.ts';

/** An overlay without a kernel: each part writes down what it is told. */

export const NO_RULES: FirewallRules = { in: [], out: [] };

export function graphOf(names: readonly string[], more: Partial<FullGraph> = {}, rules = NO_RULES): FullGraph {
  return {
    kind: 'full',
    epoch: 'e',
    version: 1,
    reason: 'a change',
    self: { id: 'p_self', name: 'self', address: '10.96.0.1', cidr: '10.96.0.0/24', phase: 'ready' },
    peers: names.map(peerOf),
    firewall: { digest: firewallDigest(rules), full: rules },
    relay: null,
    stun: [],
    checkpoint: null,
    ...more,
  };
}

export function peerOf(name: string, index: number): GraphPeer {
  const address = `10.96.0.${index + 2}`;
  return { id: `p_${name}`, name, publicKey: `key-${name}`, address, allowedIps: [`${address}/32`] };
}

export interface Recorded {
  readonly parts: OverlayParts;
  readonly calls: string[];
  /** Ends the interface as the kernel would. */
  endTunnel(reason: string): void;
  /** Makes the next call of that name fail once. */
  failNext(call: string): void;
  collisions: readonly string[];
  translations: readonly string[];
  /** Makes the next look find the firewall gone. */
  isFirewallFlushed: boolean;
  /** As nftables does when something is removed. */
  tellRemoved: () => void;
}

export function recordedParts(): Recorded {
  const calls: string[] = [];
  const failing = new Set<string>();
  let endTunnel: (reason: string) => void = () => {};
  const told = (call: string, detail = '') => {
    calls.push(detail ? `${call} ${detail}` : call);
    if (failing.delete(call)) throw new Error(`${call} failed`);
  };
  const recorded: Recorded = {
    calls,
    endTunnel: (reason) => endTunnel(reason),
    failNext: (call) => failing.add(call),
    collisions: [],
    translations: [],
    isFirewallFlushed: false,
    tellRemoved: () => {},
    parts: {
      platform: {
        obstacles: async () => [],
        collisions: async () => recorded.collisions,
        takeOver: async () => undefined,
        recover: async () => told('recover'),
        watchNetwork: () => ({ stop() {} }),
        async open({ interfaceName, listenPort, address }) {
          told('tunnel', address);
          let addresses = address;
          return {
            kind: 'kernel',
            mixesFamilies: true,
            interfaceName,
            listenPort,
            inherited: [],
            async change(put, removed) {
              const added = put.map(({ publicKey, endpoint }) => `${publicKey}@${endpoint?.address ?? '-'}`);
              told('peers', `+[${added}] -[${removed}]`);
            },
            setEndpoint: async () => {},
            handshake: async () => {},
            setPrivateKey: async () => told('key'),
            async setPlaces(places) {
              const before = addresses;
              addresses = places.map((place) => place.address).join(' ');
              if (addresses !== before) told('address', addresses);
            },
            peers: async () => [],
            ended: new Promise((resolve) => {
              endTunnel = resolve;
            }),
            close: async () => told('tunnel closed'),
          };
        },
      },
      openFirewall: async () => ({
        apply: async ({ address }, rules) => told('firewall', `of ${address}: in ${rules.in.length}`),
        isGuarded: () => false,
        maintain: async () => {
          if (failing.delete('maintain')) throw new Error('maintain failed');
          return recorded.isFirewallFlushed;
        },
        watch: (onRemoved) => {
          recorded.tellRemoved = onRemoved;
          return { close: async () => {} };
        },
        close: async () => told('firewall closed'),
      }),
      hostRules: () => ({ ...NO_HOST_RULES, translations: async () => recorded.translations }),
      startConnectivity: async () => connectivityOf(told),
      removeLeft: async () => told('left removed'),
    },
  };
  return recorded;
}

function connectivityOf(told: (call: string, detail?: string) => void): Connectivity {
  told('paths');
  return {
    admit: async ({ peers }) => new Map(peers.map(({ publicKey }) => [publicKey, { address: 'relay', port: 1 }])),
    updateGraph: ({ peers }) => told('connect', String(peers.map(({ name }) => name))),
    receiveSignal: () => {},
    busState: () => {},
    look: async () => [],
    statuses: () => [],
    onChange: () => () => {},
    hurry: () => {},
    networkChanged: () => {},
    restoreRules: () => told('paths restored'),
    metrics: () => ({
      relay: {
        state: 'none',
        address: null,
        reason: null,
        sentPackets: 0,
        receivedPackets: 0,
        dropped: { 'relay-away': 0, 'queue-full': 0, 'not-negotiated': 0, 'unknown-peer': 0, 'too-large': 0 },
        all: [],
      },
      icePort: { isShared: false, obstacle: null, mapped: { ipv4: null, ipv6: null } },
      ignored: {},
    }),
    close: async () => told('paths closed'),
  };
}
