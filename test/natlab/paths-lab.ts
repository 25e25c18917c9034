import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { PathStatus } from '../../client/paths/status.ts';
import type { FullGraph } from '../../core/network/graph.ts';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { generateKeyPair, type KeyPair } from '../../net/seal/x25519.ts';
import { type LabSpec, type Natlab, natlab } from '../natlab.ts';

const TOKEN = 'relay-token-of-the-lab';
const NO_RULES = { in: [], out: [] } as const;
let nodes = 0;

/** Nodes of a lab that know each other, connected by a relay, a STUN server and this test as their bus. */
export async function connectedLab(spec: LabSpec) {
  const lab = await natlab(spec);
  const plane = lab.host('plane').spawn('node', [path.join(import.meta.dirname, 'paths-plane.ts'), TOKEN]);
  plane.stderr?.on('data', (data) => process.stderr.write(data));
  if (plane.stdout) await once(plane.stdout, 'data');
  const members = Object.keys(spec.hosts).map((name, index) => ({
    name,
    index,
    pair: generateKeyPair(),
    address: `10.96.0.${index + 2}`,
  }));
  const started: LabNode[] = [];
  const bus = (subject: string, sealed: string) => {
    const to = started.find(({ name }) => subject === `mesh.w.${name}.signal`);
    to?.send({ type: 'signal', subject, sealed });
  };
  for (const member of members) started.push(startNode(lab, member, graphOf(member, members), bus));
  await Promise.all(started.map(({ until }) => until(({ type }) => type === 'up')));
  for (const node of started) node.send({ type: 'bus', state: 'up' });
  return {
    lab,
    node(name: string): LabNode {
      const found = started.find((node) => node.name === name);
      if (!found) throw new Error(`The lab has no node ${name}.`);
      return found;
    },
    async [Symbol.asyncDispose]() {
      for (const node of started) if (!node.hasEnded) node.send({ type: 'close' });
      await Promise.all(started.map(({ until }) => until(({ type }) => type === 'down')));
      await lab[Symbol.asyncDispose]();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each test knows the fields of the message it waits for.
type Message = any;

interface Member {
  readonly name: string;
  readonly index: number;
  readonly pair: KeyPair;
  readonly address: string;
}

function startNode(
  lab: Natlab,
  { name, pair }: Member,
  graph: FullGraph,
  bus: (subject: string, sealed: string) => void,
) {
  const interfaceName = `mp${process.pid % 10_000}x${nodes++}`;
  const child = lab.host(name).spawn('node', [path.join(import.meta.dirname, 'paths-node.ts')]);
  const messages: Message[] = [];
  let wake = () => {};
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors += data;
  });
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      if (message.type === 'signal') bus(message.subject, message.sealed);
      else messages.push(message);
      wake();
    });
  }
  // A node that has ended reads nothing any more.
  child.stdin?.on('error', () => {});
  let hasEnded = false;
  child.on('exit', () => {
    hasEnded = true;
    wake();
  });
  const send = (message: object) => child.stdin?.write(`${JSON.stringify(message)}\n`);
  const privateKey = Buffer.from(pair.privateKey).toString('base64');
  send({ graph, privateKey, interfaceName, listenPort: 51_820 });
  const until = async (isIt: (message: Message) => boolean, from = 0): Promise<Message> => {
    for (;;) {
      const found = messages.slice(from).find(isIt);
      if (found) return found;
      if (hasEnded) throw new Error(`The node ${name} has ended:\n${errors}`);
      await new Promise<void>((resolve) => {
        const others = wake;
        wake = () => {
          others();
          resolve();
        };
      });
    }
  };
  return {
    name,
    address: graph.self.address,
    interfaceName,
    host: lab.host(name),
    messages,
    get hasEnded() {
      return hasEnded;
    },
    send,
    until,
    /** Waits until the newest status of a peer is as wanted. */
    async untilStatus(peer: string, isSo: (status: PathStatus) => boolean): Promise<PathStatus> {
      for (;;) {
        const seen = messages.length;
        const newest: Message = messages.findLast(
          (message) => message.type === 'status' && message.status.peerId === peer,
        );
        if (newest && isSo(newest.status)) return newest.status;
        await until((message) => message.type === 'status', seen);
      }
    },
  };
}

export type LabNode = ReturnType<typeof startNode>;

function graphOf(self: Member, members: readonly Member[]): FullGraph {
  const expiresAt = Date.now() + 3_600_000;
  const grant = { workspace: workspaceTagOf('w'), publicKey: self.pair.publicKey, expiresAt };
  return {
    kind: 'full',
    epoch: 'e',
    version: 1,
    reason: 'requested',
    self: { id: self.name, name: self.name, address: self.address, cidr: '10.96.0.0/24', phase: 'ready' },
    peers: members
      .filter((member) => member !== self)
      .map(({ name, pair, address }) => ({
        id: name,
        name,
        publicKey: Buffer.from(pair.publicKey).toString('base64'),
        address,
        allowedIps: [`${address}/32`],
      })),
    firewall: { digest: '', full: NO_RULES },
    relay: {
      url: '198.51.100.1:6266',
      credential: mintCredential(relayKeysOf(TOKEN), grant),
      expiresAt: new Date(expiresAt).toISOString(),
    },
    stun: ['198.51.100.1:3478'],
    checkpoint: null,
  };
}
