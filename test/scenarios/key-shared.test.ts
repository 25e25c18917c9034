import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { KEY_SHARED } from '../../client/control/standing.ts';
import { joined, linkOf } from '../kits/http/control-node.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { freePorts } from '../kits/servers/free-port.ts';

const RESTARTS = 5;
/** A heartbeat that came too early for the bus is followed by one half a minute later. */
const SOON = { timeout: 40_000 };
const TEST_MS = 180_000;
const LOOPBACK = '127.0.0.1';

type Node = ReturnType<typeof linkOf>;

async function started(...[config]: Parameters<typeof linkOf>): Promise<Node> {
  const node = linkOf(config);
  onTestFinished(() => node.link.stop());
  await node.link.start();
  return node;
}

/** To the bus, until what passes there is cut. */
async function wayTo(busPort: () => number | undefined) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const beyond = createConnection(busPort() ?? 0, LOOPBACK);
    for (const [from, to] of [
      [socket, beyond],
      [beyond, socket],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => to.destroy());
    }
  }).listen(0, LOOPBACK);
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `nats://${LOOPBACK}:${port}`, cut };
}

/** Of nodes on the bus that this control plane answered. */
async function heartbeats({ api }: Harness): Promise<number> {
  return Number(/^mesh_node_heartbeats_total (\d+)$/m.exec((await api('GET', '/metrics')).text)?.[1]);
}

const saysShared = ({ link, lines }: Node) =>
  link.status.isKeyShared || lines.some((line) => line.includes(KEY_SHARED));

test(
  'a control plane that is restarted again and again under a node says nothing of its key',
  async () => {
    const [port, busPort] = await freePorts(2);
    const env = { MESH_LISTEN: `${LOOPBACK}:${port}`, MESH_BUS_LISTEN: `${LOOPBACK}:${busPort}` };
    let harness = await startHarness({ env });
    onTestFinished(() => harness[Symbol.asyncDispose]());
    const place = await harness.workspace();
    const node = await started(await joined(harness, place, 'a', `nats://${env.MESH_BUS_LISTEN}`));
    for (let count = 0; count < RESTARTS; count += 1) {
      await expect.poll(() => heartbeats(harness), SOON).toBeGreaterThan(0);
      expect(saysShared(node)).toBe(false);
      await harness.stop();
      harness = await startHarness({ directory: harness.directory, env });
    }
    await expect.poll(() => heartbeats(harness), SOON).toBeGreaterThan(0);
    expect(saysShared(node)).toBe(false);
  },
  TEST_MS,
);

test(
  'of two machines with one key each says so at its next heartbeat',
  async () => {
    const busPort = (): number | undefined => harness.plane.listeners.bus?.port;
    const [way, otherWay] = [await wayTo(busPort), await wayTo(busPort)];
    const env = { MESH_BUS_LISTEN: `${LOOPBACK}:0`, MESH_SIGNALING_URL: way.url };
    const harness = await startHarness({ env });
    onTestFinished(() => harness[Symbol.asyncDispose]());
    const place = await harness.workspace();
    const config = await joined(harness, place, 'a', way.url);
    const one = await started(config);
    await expect.poll(() => heartbeats(harness), SOON).toBe(1);
    const other = await started({ ...config, signalingUrl: otherWay.url });
    await expect.poll(() => heartbeats(harness), SOON).toBe(2);
    expect([saysShared(one), saysShared(other)]).toEqual([false, false]);
    // Who comes back to the bus sends a heartbeat.
    way.cut();
    await one.until(() => saysShared(one));
    otherWay.cut();
    await other.until(() => saysShared(other));
    expect([one.link.status.isKeyShared, other.link.status.isKeyShared]).toEqual([true, true]);
  },
  TEST_MS,
);
