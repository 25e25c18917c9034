import { expect, test } from 'vitest';
import type { ProblemCode } from '../core/base/errors.ts';
import { takesAway } from '../core/base/operation.ts';
import { operations } from '../tools/index.ts';
import { type Operation, sampleOf } from './kits/http/sample-requests.ts';
import { buildKit, type Kit, person } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

/** Fields that name a peer, of every operation that has them; another field of that kind belongs here too. */
const PEER_FIELDS = ['src', 'dst'];
const takesPeer = operations.filter(
  ({ name, input, access }) =>
    (/_peer(_paths)?$/.test(name) && 'id' in input.shape) ||
    (access === 'network:read' && PEER_FIELDS.some((field) => field in input.shape)) ||
    name === 'check_connectivity_at',
);

async function scene() {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'web-2': { role: 'web' },
    'db-1': { role: 'db' },
  });
  return { kit, workspace, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

function inputOf(operation: Operation, peer: string): Record<string, unknown> {
  const fields = 'id' in operation.input.shape ? ['id'] : PEER_FIELDS;
  const named = Object.fromEntries(fields.map((field, index) => [field, index === 0 ? peer : 'db-1']));
  return { ...sampleOf(operation), ...named };
}

async function refusal(kit: Kit, operation: Operation, peer: string, workspace: string) {
  const as = person('platform_admin', workspace);
  const answer = kit.call(operation.name, inputOf(operation, peer), { as, workspace, face: 'mcp' });
  return (await answer.then(
    () => ({ code: 'answered', message: '' }),
    (error: unknown) => error,
  )) as { readonly code: ProblemCode | 'answered'; readonly message: string };
}

test('operations that name a peer are those known, so that a new one is tried too', () => {
  expect(takesPeer.map(({ name }) => name).sort()).toEqual([
    ...['adopt_peer', 'approve_peer', 'check_connectivity', 'check_connectivity_at', 'delete_peer', 'explain_denial'],
    ...['get_peer', 'get_peer_paths', 'revoke_peer', 'update_peer'],
  ]);
});

test.each(takesPeer.map((operation) => [operation.name, operation] as const))(
  '%s answers not_found to a name that nobody has, with the nearest ones unless it takes away',
  async (_name, operation) => {
    await using it = await scene();
    const typo = await refusal(it.kit, operation, 'web1', it.workspace);
    const said = takesAway(operation) ? 'There is no peer "web1".' : expect.stringContaining('Did you mean "web-1"');
    expect(typo).toMatchObject({ code: 'not_found', message: said });
    const nobody = await refusal(it.kit, operation, 'quite-another', it.workspace);
    expect(nobody).toMatchObject({ code: 'not_found', message: 'There is no peer "quite-another".' });
    const address = await refusal(it.kit, operation, '10.96.0.200', it.workspace);
    expect(address).toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(
        /^No peer has the address 10.96.0.200\. .*For addresses outside, ask check_connectivity/,
      ),
    });
  },
);

test.each(
  takesPeer.flatMap((operation) => ('id' in operation.input.shape ? [[operation.name, operation] as const] : [])),
)('%s says which peers have a label where one peer is needed', async (_name, operation) => {
  await using it = await scene();
  expect(await refusal(it.kit, operation, 'role=web', it.workspace)).toMatchObject({
    code: 'not_found',
    message: `"role=web" selects peers by label, and one peer is needed here.${takesAway(operation) ? '' : ' Did you mean "web-1" or "web-2"?'}`,
  });
});

test('who may not list peers may not write them either, and is told no name', async () => {
  await using it = await scene();
  const all = person('admin', it.workspace);
  const writer = { ...all, scopesIn: () => new Set(['network:write' as const]) };
  await expect(
    it.kit.call('delete_peer', { id: 'web1' }, { as: writer, workspace: it.workspace }),
  ).rejects.toMatchObject({ code: 'forbidden', details: { scope: 'network:read' } });
});

test('who may not read the network plans no change of it, so that no plan and no refusal tells what is there', async () => {
  await using it = await scene();
  const planner = { ...person('admin', it.workspace), scopesIn: () => new Set(['intents:plan' as const]) };
  for (const [name, values] of [
    ['plan_network_change', { intent: 'let web1 reach db-1' }],
    ['revert_network_change', { to: 'last' }],
  ] as const) {
    await expect(it.kit.call(name, values, { as: planner, workspace: it.workspace })).rejects.toMatchObject({
      code: 'forbidden',
      details: { scope: 'network:read' },
    });
  }
});

test.each([
  ['get_policy', 'policy'],
  ['delete_policy', 'policy'],
  ['get_network', 'network'],
])('%s offers the nearest names too, unless it takes away', async (name, what) => {
  await using it = await scene();
  const as = person('admin', it.workspace);
  const spec = what === 'policy' ? { action: 'DENY', peerSelector: {} } : { cidr: '10.97.0.0/24' };
  await it.kit.call(`create_${what}`, { name: 'backoffice', spec }, { as, workspace: it.workspace });
  await expect(it.kit.call(name, { id: 'back-ofice' }, { as, workspace: it.workspace })).rejects.toMatchObject({
    code: 'not_found',
    message: `There is no ${what} "back-ofice".${name === 'delete_policy' ? '' : ' Did you mean "backoffice"?'}`,
  });
});

test('a network that a list of peers asks for must exist', async () => {
  await using it = await scene();
  const as = person('viewer', it.workspace);
  await expect(
    it.kit.call('list_peers', { network: 'defualt' }, { as, workspace: it.workspace }),
  ).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no network "defualt". Did you mean "default"?',
  });
});
