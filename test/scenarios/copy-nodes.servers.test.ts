import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { joined, linkOf } from '../kits/http/control-node.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { COMPILE_CACHE, launcher, run } from '../kits/process/run-command.ts';
import { freePorts } from '../kits/servers/free-port.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Three control planes one after the other; a node comes back at intervals of its own. */
const PATIENCE_MS = 120_000;

test.skipIf(!hasMongod)(
  'a node follows a move to a replica set and back without a hand',
  { timeout: PATIENCE_MS },
  async () => {
    const directory = freshDirectory();
    const servers = await shareReplicaSet();
    onTestFinished(async () => {
      await servers.stop();
      rmSync(directory, { recursive: true, force: true });
    });
    const [api, bus] = (await freePorts(2)).map((port) => `127.0.0.1:${port}`);
    const ports = { MESH_LISTEN: `${api}`, MESH_BUS_LISTEN: `${bus}`, MESH_SIGNALING_URL: `nats://${bus}` };
    const served = { MESH_STORE_URL: servers.url('moved') };
    const plane = async (env: Readonly<Record<string, string>>) => {
      const harness = await startHarness({ directory, env: { ...ports, ...env } });
      onTestFinished(() => harness.stop());
      return harness;
    };
    const move = async (env: Readonly<Record<string, string>>, to: string) => {
      const args = ['copy', '--to', to, '--config-dir', directory];
      expect(await run(launcher('meshd'), args, { env: { ...env, ...COMPILE_CACHE } })).toMatchObject({ code: 0 });
    };

    const first = await plane({});
    const place = await first.workspace();
    const join = (harness: Harness, name: string) => joined(harness, place, name, ports.MESH_SIGNALING_URL);
    const node = linkOf(await join(first, 'a'));
    onTestFinished(() => node.link.stop());
    await node.link.start();
    const sees = (...names: string[]) => node.until(() => String(node.peers()?.toSorted()) === String(names));
    await join(first, 'b');
    await sees('b');
    await first.stop();

    await move({}, served.MESH_STORE_URL);
    const second = await plane(served);
    await join(second, 'c');
    await sees('b', 'c');
    await second.stop();

    await move(served, `sqlite:${path.join(directory, 'mesh.db')}`);
    await join(await plane({}), 'd');
    await sees('b', 'c', 'd');
    expect(new Set(node.graphs.map(({ epoch }) => epoch)).size).toBe(3);
    expect(new Set(node.standings)).toEqual(new Set(['ready']));
  },
);
