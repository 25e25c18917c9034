import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { writeBusConfig } from '../../bin/compose/bus-config.ts';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { configure, FIRST_ADMIN } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const initAdmins = [FIRST_ADMIN];
/** Until the others have looked again. */
const PATIENCE = { timeout: 30_000 };

describe.skipIf(!hasMongod)('a control plane whose settings are not those of the others', { timeout: 120_000 }, () => {
  let servers: Databases;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers, planes: 2 });
  }, 180_000);
  afterAll(async () => {
    await cluster?.stop();
    await servers?.stop();
  });

  /** One more on the same database. */
  function another(env: Readonly<Record<string, string>>, app: object = {}) {
    const directory = freshDirectory();
    configure(directory, { app: { initAdmins, ...app } });
    const off = { MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
    const shared = { MESH_STORE_URL: servers.url(cluster.database), MESH_KEYS_FILE: cluster.keysFile };
    const meshd = startMeshd({ directory, env: { ...off, ...shared, ...env }, command: [launcher('meshd')] });
    onTestFinished(async () => {
      await meshd.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    return meshd;
  }

  const settingsAt = async (url: string) => {
    const { status, checks } = (await (await fetch(`${url}/readyz?verbose`)).json()) as {
      readonly status: string;
      readonly checks: readonly { readonly name: string; readonly state: string; readonly detail: string }[];
    };
    expect(status).not.toBe('failed');
    return checks.find(({ name }) => name === 'settings');
  };
  const eachOf = () => Promise.all(cluster.planes.map(({ url }) => settingsAt(url)));

  test.each([
    ['MESH_EDITION', { MESH_EDITION: 'community' }],
    ['MESH_LRP_AUTH_TOKEN', { MESH_LRP_AUTH_TOKEN: 'another token of the relays' }],
    ['MESH_SIGNALING_AUTH', { MESH_SIGNALING_AUTH: 'token' }],
  ])('does not start where it would shut out nodes or forget too early, and says so: %s', async (name, env) => {
    const meshd = another(env);
    expect(await meshd.ended).toBe(1);
    expect(meshd.stderr()).toMatch(
      new RegExp(`${name}: is not as at the control planes \\S+ and \\S+, which are at work`),
    );
    expect(meshd.stderr()).not.toContain('another token of the relays');
    for (const check of await eachOf()) expect(check).toMatchObject({ state: 'ok' });
    for (const plane of cluster.planes)
      expect(plane.meshd.stderr()).not.toContain('another control plane has other settings');
  });

  test('is shown by all, by the names of the settings, until it has ended or has the same', async () => {
    const signIn = { idleTimeout: '10m' };
    const other = another({ MESH_STUN_URL: 'stun.example.com:3478' }, { rateLimit: 17, signIn });
    const url = await other.ready();
    const differ = /other settings: MESH_STUN_URL, app\.rateLimit, app\.signIn \(/;
    const degraded = { state: 'degraded', detail: expect.stringMatching(differ) };
    await expect.poll(eachOf, PATIENCE).toMatchObject([degraded, degraded]);
    await expect.poll(() => settingsAt(url), PATIENCE).toMatchObject(degraded);
    expect(other.stderr()).toMatch(/app\.signIn.*another control plane has other settings/);
    await other.stop();
    await expect.poll(eachOf, PATIENCE).toMatchObject([{ state: 'ok' }, { state: 'ok' }]);
  });

  describe('meshd doctor, with settings as they would be given to one more', () => {
    async function doctor(env: Readonly<Record<string, string>> = {}) {
      const directory = newDirectory();
      configure(directory, { app: { initAdmins } });
      const off = { MESH_BUS_LISTEN: 'off', MESH_RELAY_LISTEN: 'off', MESH_STUN_LISTEN: 'off' };
      const shared = { MESH_STORE_URL: servers.url(cluster.database), MESH_KEYS_FILE: cluster.keysFile };
      const args = ['doctor', '--json', '--config-dir', directory];
      const { code, stdout } = await run(launcher('meshd'), args, { env: { ...off, ...shared, ...env } });
      const { items } = JSON.parse(stdout) as { readonly items: readonly { check: string; detail: string }[] };
      return { code, found: items.filter(({ check }) => check === 'settings') };
    }

    test('says that they agree', async () => {
      const detail = 'Those given here are those of all 2 control planes at work on the database.';
      expect(await doctor()).toMatchObject({ code: 0, found: [{ state: 'ok', detail }] });
    });

    test('names what differs, and fails where it would not start, without a word to those at work', async () => {
      const detail = expect.stringMatching(
        /other settings than are given here: MESH_STUN_URL \(\S+\); MESH_STUN_URL \(/,
      );
      const found = [{ state: 'warning', detail }];
      expect(await doctor({ MESH_STUN_URL: 'stun.example.com:3478' })).toMatchObject({ code: 0, found });
      const refused = expect.stringMatching(
        /^MESH_EDITION: is not as at the control planes \S+ and \S+, which are at work/,
      );
      expect(await doctor({ MESH_EDITION: 'community' })).toMatchObject({
        code: 1,
        found: [{ state: 'failed', detail: refused }],
      });
      for (const plane of cluster.planes) expect(plane.meshd.stderr()).not.toContain('MESH_EDITION');
    });
  });

  test('may have another edition once no other lives', async () => {
    await Promise.all(cluster.planes.map((plane) => plane.stop()));
    const meshd = another({ MESH_EDITION: 'community' });
    expect(await meshd.ready()).toMatch(/^http/);
    await meshd.stop();
    await Promise.all(cluster.planes.map((plane) => plane.start()));
    for (const check of await eachOf()) expect(check).toMatchObject({ state: 'ok' });
  });

  test('does not start with the keys of another bus, with which it would let in nodes that the servers refuse', async () => {
    await Promise.all(cluster.planes.map((plane) => plane.stop()));
    const withBusOf = (directory: string) => ({
      MESH_BUS_URL: 'nats://127.0.0.1:1',
      MESH_SIGNALING_AUTH: 'token',
      MESH_BUS_KEYS_FILE: join(directory, 'mesh-bus.json'),
    });
    const [ours, theirs] = [newBus(), newBus()];
    const meshd = another(withBusOf(ours));
    await meshd.ready();
    const other = another(withBusOf(theirs));
    expect(await other.ended).toBe(1);
    expect(other.stderr()).toMatch(/MESH_BUS_KEYS_FILE: is not as at the control plane \S+, which is at work/);
    const copied = newDirectory();
    cpSync(ours, copied, { recursive: true });
    expect(await another(withBusOf(copied)).ready()).toMatch(/^http/);
  });
});

/** A directory with what `meshd bus-config` writes. */
function newBus(): string {
  const directory = newDirectory();
  writeBusConfig({ directory, servers: ['n1.example.net'], now: Date.now() });
  return directory;
}

function newDirectory(): string {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
