import { describe, expect, it } from 'vitest';
import { buildKit, person } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import type { PolicySpec } from '../../model/policy.ts';

const IDLE = 'it is so already';
const CLOSED: PolicySpec = { action: 'DENY', peerSelector: {} };
const only = (role: string) => ({ matchLabels: { role } });
const entry = (role: string) => [{ peerSelector: only(role) }];
const ports = [{ protocol: 'TCP' as const, port: 5432 }];
/** Web reaches db on 5432, and nothing else is open. */
const POLICIES: Readonly<Record<string, PolicySpec>> = {
  base: CLOSED,
  'db-in': { action: 'ALLOW', peerSelector: only('db'), ingress: [{ from: entry('web'), ports }] },
  'web-out': { action: 'ALLOW', peerSelector: only('web'), egress: [{ to: entry('db'), ports }] },
};

async function scene(policies: Readonly<Record<string, PolicySpec>>) {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  const labelled = (role: string) => ({ role });
  await seedPeers(kit.services, workspace, {
    ...{ 'web-1': labelled('web'), 'web-2': labelled('web'), 'db-1': labelled('db'), 'db-2': labelled('db') },
    ...{ 'api-1': labelled('api'), 'api-2': labelled('api'), 'ci-1': labelled('ci'), 'ci-2': labelled('ci') },
  });
  for (const [name, spec] of Object.entries(policies))
    await kit.call('create_policy', { name, spec }, { as: person('admin', workspace), workspace });
  const plan = (intent: string, more: object = {}) =>
    kit.call(
      'plan_network_change',
      { intent, dry_run: true, ...more },
      { as: person('operator', workspace), workspace },
    );
  const idle = async (intent: string, more: object = {}): Promise<string | undefined> =>
    (await plan(intent, more)).warnings.find((one: string) => one.startsWith(IDLE));
  return { plan, idle, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

const ROLES = ['web', 'api', 'ci'];
const PORTS = [5432, 443];
const isOpen = (src: string, port: number) => src === 'web' && port === 5432;

describe('what is so already', () => {
  it('is said of each part of an order that asks for it, and of no other', async () => {
    await using on = await scene(POLICIES);
    const found: [string, string[]][] = [];
    const meant: [string, string[]][] = [];
    for (const verb of ['let', 'block'])
      for (const [at, one] of ROLES.entries())
        for (const other of ROLES.slice(at))
          for (const asked of [[5432], [443], PORTS]) {
            const who = [...new Set([one, other])];
            const intent = `${verb} ${who.join(' and ')} ${verb === 'let' ? 'reach' : 'from'} db on ${asked.join(' and ')}`;
            const parts = who.flatMap((src) =>
              asked.filter((port) => isOpen(src, port) === (verb === 'let')).map((port) => `role=${src} ${port}`),
            );
            meant.push([intent, parts.toSorted()]);
            const text = (await on.idle(intent)) ?? '';
            const named = [...text.matchAll(/(?:Let|Forbid) (role=\w+) (?:to )?reach role=db on TCP (\d+)/g)];
            found.push([intent, named.map(([, src, port]) => `${src} ${port}`).toSorted()]);
          }
    expect(found).toEqual(meant);
  });

  it.each([
    ['let web reach db on 5432', /already.*"Let role=web reach role=db on TCP 5432".*nothing opens and nothing closes/],
    ['block ci from db', /already.*"Forbid role=ci to reach role=db".*nothing opens and nothing closes/],
    ['let only web reach db on 5432', /already.*"Let only role=web reach role=db on TCP 5432".*nothing opens/],
    ['limit db to 5432', /already.*"Limit role=db to TCP 5432"/],
    ['isolate ci', /already.*"Isolate role=ci"/],
    ['block everyone except web from db', /already.*"Forbid everyone except role=web to reach role=db"/],
    ['let api reach db on 443; block ci from db', /already.*nothing for now: "Forbid role=ci to reach role=db"$/],
  ])('is no proof in silence: "%s"', async (intent, text) => {
    await using on = await scene(POLICIES);
    const plan = await on.plan(intent);
    expect(plan.warnings).toContainEqual(expect.stringMatching(text));
    expect(plan.diff_markdown).toContain(IDLE);
  });

  it.each([
    ['isolate db except from web on 5432', {}],
    ['let everyone except ci reach db on 443', POLICIES],
    ['let only web reach db', {}],
    ['let only api and web reach db on 5432', {}],
    ['block ci from db but keep ssh from ci-1', {}],
    ['limit db to 5432', {}],
  ])('is not said of what an order only keeps: "%s"', async (intent, policies) => {
    await using on = await scene(policies);
    const { check, warnings } = await on.plan(intent);
    expect([check, warnings.filter((one: string) => one.startsWith(IDLE))]).toEqual(['matches', []]);
  });

  it('is said of typed changes that open and close nothing of what they are held to', async () => {
    await using on = await scene(POLICIES);
    const spec = { action: 'DENY', peerSelector: only('db'), ingress: [{ from: entry('ci') }] };
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'no-ci', spec }];
    const expectations = [{ src: 'role=ci', dst: 'role=db', expect: 'deny' }];
    const plan = await on.plan('frobnicate the database', { changes, expectations });
    expect(plan.warnings).toContainEqual('nothing opens and nothing closes when this plan is applied');
  });
});
