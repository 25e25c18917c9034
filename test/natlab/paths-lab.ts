import { EventEmitter, on } from 'node:events';
import type { PathStatus } from '../../client/paths/status.ts';
import type { FullGraph, GraphRelay } from '../../core/model/graph.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { generateKeyPair, type KeyPair } from '../../net/seal/x25519.ts';
import { freshInterface, type LabHost, type LabSpec, type Natlab, natlab } from '../kits/lab/natlab.ts';
import { base64, type LabParts, labParts } from '../kits/lab/natlab-parts.ts';

const TOKEN = 'relay-token-of-the-lab';
const NO_RULES = { in: [], out: [] } as const;
const PATIENCE_MS = 60_000;

/**
 * Paths of a lab's hosts to each other without agents around them: over a relay, a STUN server and this test as their bus.
 *
 * @param apart hosts that are relays, beside that of the plane
 * @param prepare the lab, before paths begin
 */
export async function connectedLab(
  spec: LabSpec,
  apart: readonly string[] = [],
  prepare: (lab: Natlab) => Promise<void> = async () => {},
) {
  const lab = await natlab(spec);
  const relays = new Map<string, LabParts>();
  for (const name of ['plane', ...apart]) {
    const parts = labParts(lab.host(name));
    await parts.serveRelayAndStun(TOKEN);
    relays.set(name, parts);
  }
  await prepare(lab);
  const places = [...relays.keys()].map((name): GraphRelay => ({ name, url: `${lab.host(name).address}:6266` }));
  const hosts = Object.keys(spec.hosts).filter((name) => !apart.includes(name));
  const members = hosts.map((name, index): Member => {
    const [pair, address] = [generateKeyPair(), `10.96.0.${index + 2}`];
    return { name, pair, address, cidr: '10.96.0.0/24' };
  });
  const started = new Map<string, PathsNode>();
  const bus: Bus = (subject, sealed) => {
    const [, , name = ''] = subject.split('.');
    // A node that has ended hears nothing.
    started
      .get(name)
      ?.parts.receiveSignal(subject, sealed)
      .catch(() => {});
  };
  for (const member of members) started.set(member.name, pathsNode(lab.host(member.name), member, bus));
  const startPaths = members.map(async (member) => {
    const privateKey = base64(member.pair.privateKey);
    const parts = started.get(member.name)?.parts;
    await parts?.open({ privateKey, address: member.address, cidr: member.cidr });
    await parts?.startPaths(graphOf(member, members, places), privateKey);
  });
  await Promise.all(startPaths);
  for (const { parts } of started.values()) await parts.busState('up');
  return {
    lab,
    relay(name: string): LabParts {
      const found = relays.get(name);
      if (!found) throw new Error(`The lab has no relay ${name}.`);
      return found;
    },
    node(name: string): PathsNode {
      const found = started.get(name);
      if (!found) throw new Error(`The lab has no node ${name}.`);
      return found;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...started.values()].map(({ parts }) => parts.close()));
      await lab[Symbol.asyncDispose]();
    },
  };
}

type Bus = (subject: string, sealed: string) => void;

interface Member {
  readonly name: string;
  readonly pair: KeyPair;
  readonly address: string;
  readonly cidr: string;
}

function pathsNode(host: LabHost, { address }: Member, bus: Bus) {
  const statuses = new Map<string, PathStatus>();
  const changes = new EventEmitter();
  const parts = labParts(host, freshInterface(), (event) => {
    if (event.type === 'signal') return bus(event.subject, event.sealed);
    statuses.set(event.status.peerId, event.status);
    changes.emit('status', event.status);
  });
  return {
    host,
    address,
    parts,
    /** Waits until a status of a peer is as wanted, were it for a moment: the newest, or one that comes. */
    async untilStatus(peer: string, isSo: (status: PathStatus) => boolean): Promise<PathStatus> {
      const newest = statuses.get(peer);
      if (newest && isSo(newest)) return newest;
      try {
        for await (const [status] of on(changes, 'status', { signal: AbortSignal.timeout(PATIENCE_MS) })) {
          if (status.peerId === peer && isSo(status)) return status;
        }
      } catch (cause) {
        throw new Error(`${host.name} to ${peer} stayed so: ${JSON.stringify(statuses.get(peer))}`, { cause });
      }
      throw new Error(`${host.name} tells no more of ${peer}.`);
    },
  };
}

export type PathsNode = ReturnType<typeof pathsNode>;

function graphOf(self: Member, members: readonly Member[], relays: readonly GraphRelay[]): FullGraph {
  const expiresAt = Date.now() + 3_600_000;
  const grant = { workspace: workspaceTagOf('w'), publicKey: self.pair.publicKey, expiresAt };
  return {
    kind: 'full',
    epoch: 'e',
    version: 1,
    reason: 'requested',
    self: { id: self.name, name: self.name, address: self.address, cidr: self.cidr, phase: 'ready' },
    peers: members
      .filter((member) => member !== self)
      .map(({ name, pair, address }) => ({
        id: name,
        name,
        publicKey: base64(pair.publicKey),
        address,
        allowedIps: [`${address}/32`],
      })),
    firewall: { digest: '', full: NO_RULES },
    relay: {
      url: '198.51.100.1:6266',
      credential: mintCredential(relayKeysOf(TOKEN), grant),
      expiresAt: new Date(expiresAt).toISOString(),
    },
    ...(relays.length > 1 && { relays }),
    stun: ['198.51.100.1:3478'],
    checkpoint: null,
  };
}
