import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { busNode } from '../kits/http/bus-node.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { freePort } from '../kits/servers/free-port.ts';

const AGAIN = { reconnectTimeWait: 50, maxReconnectAttempts: -1 };
const SOON = { timeout: 20_000 };

/** The broker's thread of the plane that starts next. */
function nextBusThread(): Promise<Worker> {
  return new Promise((resolve) => process.once('worker', resolve));
}

test.each(['none', 'token'])(
  'a bus whose thread dies is started again, nodes come back and graphs go on (auth: %s)',
  async (auth) => {
    const busListen = `127.0.0.1:${await freePort()}`;
    const started = nextBusThread();
    await using plane = await startWiredPlane({ env: { MESH_SIGNALING_AUTH: auth, MESH_BUS_LISTEN: busListen } });
    const { harness, admin, busPort } = plane;
    const readiness = async () => (await harness.api('GET', '/readyz')).status;
    const metric = async (name: string) =>
      new RegExp(`^${name} (\\d+)$`, 'm').exec((await harness.api('GET', '/metrics')).text)?.[1];
    const [idA, idB] = [await plane.join('a'), await plane.join('b')];
    await using a = await busNode(busPort, idA, AGAIN);
    await a.heartbeat();
    const before = await a.fetch();
    expect([before.peers.map(({ id }) => id), await readiness()]).toEqual([[idB.id], 200]);

    // Whoever takes the port while the bus is down keeps it down, so that it can be looked at.
    await (await started).terminate();
    const squatter = createServer((socket) => socket.destroy()).listen(busPort, '127.0.0.1');
    await once(squatter, 'listening');
    expect([await readiness(), await metric('mesh_nats_up')]).toEqual([503, '0']);
    const made = await harness.api('POST', '/api/v1/policies', {
      ...admin,
      body: { name: 'shut', spec: { action: 'DENY', peerSelector: { matchLabels: { name: 'a' } } } },
    });
    expect(made.status).toBe(201);
    await expect.poll(() => harness.log.join('\n'), SOON).toContain('EADDRINUSE');
    squatter.close();

    await expect.poll(readiness, SOON).toBe(200);
    await expect.poll(() => metric('mesh_nats_up'), SOON).toBe('1');
    expect(await metric('mesh_nats_restarts_total')).toBe('1');
    await expect.poll(async () => Number(await metric('mesh_nats_connections')), SOON).toBe(1);
    // What it was sent by the bus that died is not known any more, so it is told to ask.
    expect(await a.heartbeat()).toMatchObject({ version: null });
    const whole = await a.fetch();
    expect([whole.kind, whole.version > before.version, whole.peers]).toEqual(['full', true, []]);
    await harness.api('DELETE', '/api/v1/policies/shut', admin);
    await a.until(() => a.received.at(-1)?.kind === 'delta');
    expect([a.graph?.peers.map(({ id }) => id), a.gaps]).toEqual([[idB.id], 0]);
    for (const line of ['the bus is down', 'the bus is back']) expect(harness.log.join('\n')).toContain(line);
  },
);
