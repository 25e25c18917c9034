import { expect, test } from 'vitest';
import { apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { hostIn } from '../kits/process/set-clock.ts';

test.skipIf(!isInstalled('faketime'))(
  'a control plane whose host is set forward and back goes on in order: what expired or was deleted stays so, over a kill and a start',
  async () => {
    const directory = freshDirectory();
    configure(directory);
    const { set, env } = hostIn(directory);
    const plane = startMeshd({ directory, env });
    const api = apiOf(await plane.ready());
    const asked = await freshWorkspace(api);
    const { body: short } = await api('POST', '/api/v1/users/me/api-tokens', {
      ...asked,
      body: { name: 'short', expiry: '10m' },
    });
    const spec = { action: 'DENY', peerSelector: { matchLabels: { app: 'web' } } };
    const make = (name: string, call = api) => call('POST', '/api/v1/policies', { ...asked, body: { name, spec } });
    const asShort = async (call = api) => (await call('GET', '/api/v1/users/me', { token: short.token })).status;
    const clockOf = async (call = api) =>
      (await call('GET', '/readyz?verbose')).body.checks.find(({ name }: { name: string }) => name === 'clock');
    expect([(await make('gone')).status, await asShort()]).toEqual([201, 200]);

    set('+11m');
    await expect.poll(() => asShort()).toBe(401);
    expect((await api('DELETE', '/api/v1/policies/gone', asked)).status).toBe(200);

    set('-9m');
    expect(await asShort()).toBe(401);
    expect((await make('after')).status).toBe(201);
    expect((await api('GET', '/api/v1/policies/gone', asked)).status).toBe(404);
    expect(await clockOf()).toMatchObject({ state: 'degraded', detail: expect.stringContaining('1 forward, 1 back') });
    const audit = (await api('GET', '/api/v1/audit?limit=200', asked)).body.items as { at: string }[];
    const instants = audit.map(({ at }) => at).toReversed();
    expect(instants).toEqual(instants.toSorted());
    for (const direction of ['forward', 'back'])
      expect(plane.stderr()).toContain(`the clock of this host went ${direction}`);

    plane.child.kill('SIGKILL');
    await plane.ended;
    const next = startMeshd({ directory, env });
    const again = apiOf(await next.ready());
    expect([await asShort(again), (await again('GET', '/api/v1/policies/gone', asked)).status]).toEqual([401, 404]);
    const last = (await make('later', again)).status;
    const now = (await again('GET', '/api/v1/audit?limit=200', asked)).body.items as { at: string }[];
    expect([last, now[0] !== undefined && now[0].at >= (instants.at(-1) ?? '')]).toEqual([201, true]);
    expect(await next.stop()).toBe(0);
  },
);
