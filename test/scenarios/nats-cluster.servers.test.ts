import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { BusUser } from '../../bin/compose/bus-keys.ts';
import { loadConfig } from '../../bin/compose/config.ts';
import { checkBus } from '../../bin/compose/doctor/bus.ts';
import { joined, linkOf } from '../kits/http/control-node.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import {
  hasNatsServer,
  type NatsCluster,
  OPEN_RULES,
  startNatsCluster,
  startTokenCluster,
} from '../kits/servers/nats-cluster.ts';

/** Until each server was looked at again. */
const SERVERS_PATIENCE = { timeout: 30_000 };

const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of running.splice(0)) await part.stop();
});

const urlOf = ({ places }: NatsCluster) => `nats://plane:of%20a%20test@${places.join(',nats://plane:of%20a%20test@')}`;

async function nodeAt(harness: Harness, place: { token: string; workspace: string }, name: string, server: string) {
  const config = await joined(harness, place, name, `nats://${server}`);
  const node = linkOf(config);
  running.push(node.link);
  await node.link.start();
  await node.until(() => node.link.status.bus.isUp);
  return { ...node, id: config.id, subject: `mesh.${config.workspaceId}.${config.id}.signal` };
}

const metric = async (harness: Harness, name: string) =>
  Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await harness.api('GET', '/metrics')).text)?.[1]);

/** A file as `nsc` and `nats` write it. */
const credsOf = ({ jwt, seed }: BusUser) =>
  [
    `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n`,
    `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`,
  ].join('\n');

describe.skipIf(!hasNatsServer)('a bus of three servers', () => {
  test('graphs and signals go over it, and when the server of everybody is killed all are on another one and miss nothing', async () => {
    await using cluster = await startNatsCluster({ lines: () => OPEN_RULES });
    await using harness = await startHarness({ env: { MESH_BUS_URL: urlOf(cluster) } });
    await expect.poll(() => metric(harness, 'mesh_bus_up')).toBe(1);
    const place = await harness.workspace();
    const [first = '', second = ''] = cluster.places;
    const a = await nodeAt(harness, place, 'a', first);
    const b = await nodeAt(harness, place, 'b', second);
    await a.until(() => String(a.peers()) === 'b');
    await b.until(() => String(b.peers()) === 'a');
    // Until the servers have told each other who listens, nothing is passed on.
    const reaches = async (from: typeof a, to: typeof b, text: string) => {
      const heard = () => {
        from.link.publish(to.subject, Buffer.from(text));
        return to.signals;
      };
      await expect.poll(heard).toContain(text);
    };
    await reaches(a, b, 'hello');

    await cluster.members[0]?.kill();
    const subject = { config: loadConfig({ MESH_BUS_URL: urlOf(cluster) }, harness.directory), file: undefined };
    const found = await checkBus({ ...subject, isRunning: true, now: 0 });
    expect(found.map(({ state }) => state)).toEqual(['warning', 'ok', 'ok']);
    // What is changed while it is gone comes to both.
    const body = { name: 'shut', spec: { action: 'DENY', peerSelector: {} } };
    expect((await harness.api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
    await a.until(() => String(a.peers()) === '');
    await b.until(() => String(b.peers()) === '');
    await a.until(() => a.link.status.bus.isUp);
    await harness.api('DELETE', '/api/v1/policies/shut', place);
    await a.until(() => String(a.peers()) === 'b');
    await b.until(() => String(b.peers()) === 'a');
    await reaches(b, a, 'still here');
    expect([a.standings, b.standings]).toEqual([['ready'], ['ready']]);
    expect(harness.log.join('\n')).not.toContain('of a test');
  });

  test('one that is away is named while another carries the bus, until it is back, and the control plane stays ready', async () => {
    await using cluster = await startNatsCluster({ lines: () => OPEN_RULES });
    await using harness = await startHarness({ env: { MESH_BUS_URL: urlOf(cluster) } });
    const readiness = async () => {
      const { status, body } = await harness.api('GET', '/readyz?verbose');
      const { state, detail } = body.checks.find(({ name }: { readonly name: string }) => name === 'bus');
      return { status, state, detail };
    };
    const allAnswer = { status: 200, state: 'ok', detail: expect.stringMatching(/^\S+ answers$/) };
    await expect.poll(readiness, SERVERS_PATIENCE).toEqual(allAnswer);
    const [member] = cluster.members;
    await member?.kill();
    const away = new RegExp(`^Servers of MESH_BUS_URL .*: ${cluster.places[0]} \\(.+\\)\\. \\S+ carries the bus: `);
    const degraded = { status: 200, state: 'degraded', detail: expect.stringMatching(away) };
    await expect.poll(readiness, SERVERS_PATIENCE).toEqual(degraded);
    await member?.start();
    await expect.poll(readiness, SERVERS_PATIENCE).toEqual(allAnswer);
    const lines = harness.log.join('\n');
    expect(lines).toContain('a server of the bus does not let this control plane in: the others carry it');
    expect(lines).not.toContain('of a test');
  });

  test('a control plane serves its API without it, says so, and has it when it comes', async () => {
    await using cluster = await startNatsCluster({ size: 1, lines: () => OPEN_RULES });
    const [server] = cluster.members;
    await server?.kill();
    await using harness = await startHarness({ env: { MESH_BUS_URL: urlOf(cluster) } });
    const readiness = async () => (await harness.api('GET', '/readyz?verbose')).body;
    expect((await readiness()).degraded).toEqual([expect.stringContaining('The bus at MESH_BUS_URL is not reached')]);
    await expect.poll(() => harness.log.join('\n')).toContain('the bus is not reached');
    await server?.start();
    await expect.poll(readiness).not.toHaveProperty('degraded');
    const place = await harness.workspace();
    const a = await nodeAt(harness, place, 'a', cluster.places[0] ?? '');
    await server?.kill();
    await a.until(() => !a.link.status.bus.isUp);
    // By the API.
    const config = await joined(harness, place, 'b', '');
    await server?.start();
    await a.until(() => a.link.status.bus.isUp && String(a.peers()) === 'b');
    await expect.poll(() => metric(harness, 'mesh_bus_reconnects_total')).toBe(1);
    expect(config.name).toBe('b');
  });

  test('a graph that the servers do not take is fetched by its node', async () => {
    const lines = () => `max_payload: 1500\n${OPEN_RULES}`;
    await using cluster = await startNatsCluster({ size: 1, lines });
    await using harness = await startHarness({ env: { MESH_BUS_URL: urlOf(cluster) } });
    const place = await harness.workspace();
    const a = await nodeAt(harness, place, 'a', cluster.places[0] ?? '');
    const names = ['b', 'c', 'd', 'e', 'f', 'g'];
    for (const name of names) await joined(harness, place, name, '');
    await a.until(() => String([...(a.peers() ?? [])].sort()) === String(names));
    expect(await metric(harness, 'mesh_graph_pushes_too_large_total')).toBeGreaterThan(0);
  });

  test('a control plane signs in with the file of MESH_BUS_CREDS, and with what is in it by the next attempt', async () => {
    const directory = freshDirectory();
    running.push({ stop: async () => rmSync(directory, { recursive: true }) });
    await using cluster = await startTokenCluster(directory);
    const { plane, system } = JSON.parse(readFileSync(cluster.keysFile, 'utf8'));
    const creds = path.join(directory, 'plane.creds');
    // Of no use: the key is another user's.
    writeFileSync(creds, credsOf({ jwt: plane.jwt, seed: system.seed }));
    const servers = cluster.places.map((place) => `nats://${place}`).join(',');
    await using harness = await startHarness({ env: { MESH_BUS_URL: servers, MESH_BUS_CREDS: creds } });
    await expect.poll(() => harness.log.join('\n')).toContain('the bus is not reached');
    expect(await metric(harness, 'mesh_bus_up')).toBe(0);
    writeFileSync(creds, credsOf(plane));
    await expect.poll(() => metric(harness, 'mesh_bus_up')).toBe(1);
    await expect.poll(async () => (await harness.api('GET', '/readyz')).body).toEqual({ status: 'ready' });
    for (const secret of [plane.jwt, plane.seed]) expect(harness.log.join('\n')).not.toContain(secret);
  });
});
