import { rmSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { configure, login } from '../kits/http/harness.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { hostIn } from '../kits/process/set-clock.ts';
import { Victim } from './victim.ts';

const WORKSPACES = 60;

const called =
  (name: string) =>
  ({ username }: { username: string }) =>
    username === name;

test.skipIf(!isInstalled('faketime'))(
  'an account whose deletion is cut off by kill -9 has gone from every workspace a minute later',
  { timeout: 240_000 },
  async () => {
    const directory = freshDirectory();
    configure(directory);
    const host = hostIn(directory);
    const victim = new Victim({ directory, env: host.env });
    onTestFinished(async () => {
      await victim.kill();
      rmSync(directory, { recursive: true, force: true });
    });
    await victim.start();
    const token = await login(victim.api);
    const accounts = async () => (await victim.api('GET', '/api/v1/users', { token })).body.items;
    const workspaces = await Promise.all(
      Array.from({ length: WORKSPACES }, async (_, number) => {
        const body = { slug: `w${number}`, namespace: `w${number}`, displayName: 'W', maxNodeCount: 10 };
        return (await victim.api('POST', '/api/v1/workspaces/add', { token, body })).body.data.id as string;
      }),
    );
    const [first = ''] = workspaces;
    const isMember = async (name: string, id: string) =>
      (await victim.api('GET', `/api/v1/workspaces/${id}/members`, { token })).body.items.some(called(name));
    const memberships = async (name: string) =>
      (await Promise.all(workspaces.map((id) => isMember(name, id)))).filter(Boolean).length;

    /** @returns in how many workspaces it still is a member: in none where its deletion was over before the kill */
    async function cutOff(name: string): Promise<number> {
      const account = { username: name, password: 'loves-Engines-1843', displayName: 'Ann', role: 'user' };
      await victim.api('POST', '/api/v1/users', { token, body: account });
      for (const id of workspaces) {
        await victim.api('PUT', `/api/v1/workspaces/${id}/members/${name}`, { token, body: { role: 'viewer' } });
      }
      expect(await memberships(name)).toBe(WORKSPACES);
      const deletion = victim.api('DELETE', `/api/v1/users/${name}`, { token }).catch(() => undefined);
      await vi.waitUntil(async () => !(await isMember(name, first)), { timeout: 30_000, interval: 1 });
      await victim.kill();
      await deletion;
      await victim.start();
      return memberships(name);
    }
    let name = 'ann';
    for (let nth = 0; (await cutOff(name)) === 0; nth += 1) name = `ann-${nth}`;
    expect((await accounts()).find(called(name))).toMatchObject({ disabled: true });

    host.set('+2m');
    await vi.waitFor(
      async () => expect([await memberships(name), (await accounts()).some(called(name))]).toEqual([0, false]),
      {
        timeout: 120_000,
        interval: 500,
      },
    );
  },
);
