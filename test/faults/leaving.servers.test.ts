import { rmSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ADMIN_PASSWORD, configure } from '../kits/http/harness.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { hostIn } from '../kits/process/set-clock.ts';
import { Victim } from './victim.ts';

const WORKSPACES = 60;

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
    const login = await victim.api('POST', '/api/v1/users/login', {
      body: { username: 'admin', password: ADMIN_PASSWORD },
    });
    const { token } = login.body.data;
    const accounts = async () => (await victim.api('GET', '/api/v1/users', { token })).body.items;
    const isAnn = ({ username }: { username: string }) => username === 'ann';
    const workspaces = await Promise.all(
      Array.from({ length: WORKSPACES }, async (_, number) => {
        const body = { slug: `w${number}`, namespace: `w${number}`, displayName: 'W', maxNodeCount: 10 };
        return (await victim.api('POST', '/api/v1/workspaces/add', { token, body })).body.data.id as string;
      }),
    );
    const isMemberIn = async (id: string) =>
      (await victim.api('GET', `/api/v1/workspaces/${id}/members`, { token })).body.items.some(isAnn);
    const memberships = async () => (await Promise.all(workspaces.map(isMemberIn))).filter(Boolean).length;
    const ann = { username: 'ann', password: 'loves-Engines-1843', displayName: 'Ann', role: 'user' };
    await victim.api('POST', '/api/v1/users', { token, body: ann });
    for (const id of workspaces) {
      await victim.api('PUT', `/api/v1/workspaces/${id}/members/ann`, { token, body: { role: 'viewer' } });
    }
    expect(await memberships()).toBe(WORKSPACES);

    const deletion = victim.api('DELETE', '/api/v1/users/ann', { token }).catch(() => undefined);
    const [first = ''] = workspaces;
    await vi.waitUntil(async () => !(await isMemberIn(first)), { timeout: 30_000, interval: 1 });
    await victim.kill();
    await deletion;

    await victim.start();
    expect((await accounts()).find(isAnn)).toMatchObject({ disabled: true });
    expect(await memberships()).toBeGreaterThan(0);

    host.set('+2m');
    await vi.waitFor(async () => expect([await memberships(), (await accounts()).some(isAnn)]).toEqual([0, false]), {
      timeout: 120_000,
      interval: 500,
    });
  },
);
