import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { NodeStatus, PeerStatus } from '../../client/agent/node-status.ts';
import { type LabHost, natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { UserspaceNode } from '../kits/lab/userspace-node.ts';

/** After a revocation no tunnel may last longer, and after the end of its time no node. */
const CUT_MS = 2_000;
/** The sub-agent has joined and has a connection within this on a busy machine. */
const TTL = '20s';
const PORT = 9_000;
const ECHO_SERVER = `
  require('net').createServer((socket) => socket.on('error', () => {}).pipe(socket))
    .listen(${PORT}, '0.0.0.0', () => console.log('up'))`;

/** Sends back what it is sent. */
async function echoesOn(host: LabHost): Promise<void> {
  const child = host.spawn(process.execPath, ['-e', ECHO_SERVER]);
  if (child.stdout) await once(child.stdout, 'data');
}

/** A connection of a node to the echo server of a peer, by `mesh nc`, once it has carried something. */
async function flowTo(node: LabNode, peer: string): Promise<ChildProcess> {
  const [file, ...words] = node.command(['nc', peer, `${PORT}`, '--config-dir', node.directory]);
  const flow = node.host.spawn(file, words, { HOME: node.directory });
  await carries(flow, 'begin');
  return flow;
}

async function carries(flow: ChildProcess, text: string): Promise<void> {
  const heard = flow.stdout && once(flow.stdout, 'data');
  flow.stdin?.write(text);
  expect(`${await heard}`).toBe(text);
}

const isConnected = ({ path, state }: PeerStatus) => path === 'direct' && state === 'connected';

describePrivileged('the life of a node of an ordinary user', () => {
  it('keeps its connections as its key changes, and loses them with its tunnels as it is revoked and at the end of its time', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {}, far: {}, brief: {} } });
    await using plane = await startLabPlane(lab);
    const make = (host: LabHost) => (host.name === 'one' ? new LabNode(host) : new UserspaceNode(host));
    const { one, two, far } = await labNodes(lab, plane, ['one', 'two', 'far'], undefined, make);
    await echoesOn(one.host);
    const reach = [{ to: [{ peerSelector: {} }] }];
    const agent = await plane.api('POST', '/api/v1/agents', { name: 'planner', reach });
    const body = { subAgentName: 'brief', ttl: TTL, policyPreset: 'inherit' };
    const delegated = await plane.call('POST', `/api/v1/agents/${agent.id}/delegate`, { token: agent.token, body });
    const brief = new UserspaceNode(lab.host('brief'));
    await brief.join(delegated.body.enrollmentToken);
    brief.start();
    await brief.untilPeer('one', isConnected);
    const briefFlow = await flowTo(brief, 'one');
    const { expiresAt } = (await brief.status()).node;
    const overAt = once(briefFlow, 'close').then(() => Date.now());

    for (const node of [one, far]) await node.untilPeer('two', isConnected);
    const flow = await flowTo(two, 'one');
    const { publicKey } = (await two.status()).node;
    await two.must(['rotate-key']);
    await two.until(({ node }) => node.publicKey !== publicKey);
    await carries(flow, 'after the rotation');
    const { address } = (await two.status()).node;
    for (const node of [one, far]) expect(await node.reaches(address ?? '')).toBe(true);

    const ended = once(flow, 'close');
    const { node } = await two.status();
    await plane.api('POST', `/api/v1/peers/${node.id}/revoke`, {});
    const began = performance.now();
    const knowsTwo = ({ peers }: NodeStatus) => peers.some(({ name }) => name === 'two');
    await Promise.all([
      ended,
      ...[one, far].map((other) => other.until((status) => !knowsTwo(status))),
      two.until(({ control, peers }) => control.standing === 'revoked' && peers.length === 0),
    ]);
    expect(performance.now() - began).toBeLessThan(CUT_MS);

    expect(Math.abs((await overAt) - Date.parse(expiresAt ?? ''))).toBeLessThan(CUT_MS);
    await one.until(({ peers }) => !peers.some(({ name }) => name === 'brief'));
    for (const each of [one, two, far]) expect(await each.stop()).toBe(0);
  });
});
