import type { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { KEY_SHARED } from '../../client/control/standing.ts';
import { joined, linkOf } from '../kits/http/control-node.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';

const RESTARTS = 5;
const SOON = { timeout: 20_000 };
const LOOPBACK = '127.0.0.1';

type Node = ReturnType<typeof linkOf>;

async function started(...[config]: Parameters<typeof linkOf>): Promise<Node> {
  const node = linkOf(config);
  onTestFinished(() => node.link.stop());
  await node.link.start();
  return node;
}

function placesOf({ plane }: Harness) {
  const { bus } = plane.listeners;
  return { MESH_LISTEN: new URL(plane.url).host, MESH_BUS_LISTEN: `${LOOPBACK}:${bus?.port}` };
}

/** Graphs that a node was sent because a heartbeat on the bus told it of another version. */
const asked = ({ graphs }: Node) => graphs.filter(({ reason }) => reason === 'requested').length;
const saysShared = ({ link, lines }: Node) =>
  link.status.isKeyShared || lines.some((line) => line.includes(KEY_SHARED));

test('a control plane that is restarted again and again under a node says nothing of its key', async () => {
  let harness = await startHarness({ env: { MESH_BUS_LISTEN: `${LOOPBACK}:0` } });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const env = placesOf(harness);
  const place = await harness.workspace();
  const node = await started(await joined(harness, place, 'a', `nats://${env.MESH_BUS_LISTEN}`));
  for (let count = 0; count < RESTARTS; count += 1) {
    await node.until(() => asked(node) > count);
    expect(saysShared(node)).toBe(false);
    await harness.stop();
    harness = await startHarness({ directory: harness.directory, env });
  }
  await node.until(() => asked(node) > RESTARTS);
  expect(saysShared(node)).toBe(false);
});

test('of two machines with one key the one whose place was taken says so at its next heartbeat', async () => {
  const broker = new Promise<Worker>((resolve) => process.once('worker', resolve));
  const harness = await startHarness({ env: { MESH_BUS_LISTEN: `${LOOPBACK}:0` } });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const heartbeats = async () =>
    /^mesh_node_heartbeats_total (\d+)$/m.exec((await harness.api('GET', '/metrics')).text)?.[1];
  const place = await harness.workspace();
  const config = await joined(harness, place, 'a', `nats://${placesOf(harness).MESH_BUS_LISTEN}`);
  const one = await started(config);
  await expect.poll(heartbeats, SOON).toBe('1');
  const other = await started(config);
  await expect.poll(heartbeats, SOON).toBe('2');
  expect([saysShared(one), saysShared(other)]).toEqual([false, false]);
  // Both come back to a bus that was restarted, with a heartbeat each.
  await (await broker).terminate();
  await one.until(() => saysShared(one));
  expect(one.link.status.isKeyShared).toBe(true);
});
