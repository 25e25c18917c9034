import path from 'node:path';
import type { NodeStatus } from '../../client/agent/node-status.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { BIN } from '../kits/process/run-command.ts';

/**
 * `node test/releases/beside.ts CHECKOUT`, as root: a release, from a checkout of it with its packages, and this version as
 * control plane and nodes of each other, in network namespaces. Ends with 1 where anything of it does not work.
 */

const [checkout] = process.argv.slice(2);
if (checkout === undefined) throw new Error('Give a checkout of the release.');
const BINS = { older: path.join(path.resolve(checkout), 'bin'), newer: BIN };
type Version = keyof typeof BINS;

const DENY_ALL = { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };
/** Of b, as the first two of a workspace get theirs. */
const [ADDRESS_A, ADDRESS_B] = ['10.96.0.1', '10.96.0.2'];

async function say<T>(what: string, work: Promise<T>): Promise<T> {
  const begun = performance.now();
  const answer = await work.catch((error: Error) => {
    throw new Error(`${what}: ${error.message}`);
  });
  console.log(`  ${what}: yes (${Math.round(performance.now() - begun)} ms)`);
  return answer;
}

async function reached(from: LabNode, address: string): Promise<void> {
  if (!(await from.host.reaches(address))) throw new Error(`${address} is not reached\n${from.log}`);
}

/** Until a packet is not answered any more. */
async function shut(from: LabNode, address: string): Promise<void> {
  for (let tries = 0; tries < 30; tries += 1) if (!(await from.host.reaches(address, 1))) return;
  throw new Error(`${address} is still reached`);
}

async function tunnels(plane: LabPlane, a: LabNode, b: LabNode): Promise<void> {
  await say('a direct tunnel, both ways', direct(a, b));
  await a.host.block('udp dport 51820');
  await say('the relay where the direct path is cut, both ways', relayed(a, b));
  await a.host.unblock();
  await say('back on a direct path', direct(a, b));
  await plane.api('POST', '/api/v1/policies', DENY_ALL);
  await say('a policy that denies is in force', shut(a, ADDRESS_B));
  await plane.api('DELETE', `/api/v1/policies/${DENY_ALL.name}`);
  await say('and no more once it is deleted', reached(a, ADDRESS_B));
  const { items } = await plane.api('GET', '/api/v1/peers');
  const told = items.map(({ name, status }: Listed) => `${name} online ${status.online}, version ${status.version}`);
  console.log(`  the control plane says: ${told.join('; ')}`);
}

/** A released node does not look for it, and leaves the path with the newer one. */
async function narrowed(a: LabNode, b: LabNode): Promise<void> {
  await a.host.block('meta l4proto udp meta length > 1300');
  await say('the relay where the direct path loses large packets, both ways', relayed(a, b));
  await a.host.unblock();
  await say('back on a direct path that carries them', direct(a, b));
}

interface Listed {
  readonly name: string;
  readonly status: { readonly online: boolean; readonly version?: string | null };
}

async function direct(a: LabNode, b: LabNode): Promise<void> {
  await reached(a, ADDRESS_B);
  await reached(b, ADDRESS_A);
  await a.untilPeer('b', ({ path: by, state }) => by === 'direct' && state === 'connected', 120_000);
  await b.untilPeer('a', ({ path: by, state }) => by === 'direct' && state === 'connected', 120_000);
  await reached(a, ADDRESS_B);
}

async function relayed(a: LabNode, b: LabNode): Promise<void> {
  await a.untilPeer('b', ({ transport }) => transport === 'lrp-ready', 120_000);
  await b.untilPeer('a', ({ transport }) => transport === 'lrp-ready', 120_000);
  await reached(a, ADDRESS_B);
  await reached(b, ADDRESS_A);
}

/** Two nodes on a new control plane. */
async function run(of: Version, versions: readonly [Version, Version], then?: typeof upgraded): Promise<void> {
  console.log(`control plane ${of}, a ${versions[0]}, b ${versions[1]}`);
  await using lab = await natlab({ hosts: { a: {}, b: {} } });
  await using plane = await startLabPlane(lab, {}, BINS[of]);
  const token = await plane.joinToken();
  const nodes = [new LabNode(lab.host('a'), BINS[versions[0]]), new LabNode(lab.host('b'), BINS[versions[1]])] as const;
  const [a, b] = nodes;
  for (const node of nodes) {
    await say(`${node.host.name} joins`, node.join(token));
    node.start();
    await say(`${node.host.name} is up, with the bus`, up(node));
  }
  await tunnels(plane, a, b);
  if (versions.includes('newer')) await narrowed(a, b);
  if (then) await then(plane, a, b);
  for (const node of nodes) await node.stop();
}

/** An upgrade as it is done: the control plane, then one node after the other, each on what it had. */
async function upgraded(plane: LabPlane, a: LabNode, b: LabNode): Promise<void> {
  console.log('the control plane is upgraded');
  await plane.stop();
  await plane.start(BINS.newer);
  await say('a finds it again', up(a));
  await tunnels(plane, a, b);
  for (const node of [a, b]) {
    console.log(`${node.host.name} is upgraded`);
    await node.stop();
    node.bin = BINS.newer;
    node.start();
    await say(`${node.host.name} is up again`, up(node));
    await tunnels(plane, a, b);
  }
}

async function up(node: LabNode): Promise<void> {
  const isUp = ({ node: own, control }: NodeStatus) =>
    own.tunnel !== null && control.standing === 'ready' && control.bus.isUp && control.trouble === '';
  await node.until(isUp, 90_000);
}

await run('older', ['older', 'older'], upgraded);
await run('older', ['newer', 'older']);
await run('older', ['newer', 'newer']);
await run('newer', ['older', 'newer']);
