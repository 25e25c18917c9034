import { expect, test } from 'vitest';
import { agent, buildKit, ensureAgent, type Kit, person } from '../../test/kits/plane/kit.ts';
import { policy } from '../../test/kits/records/records.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { ANONYMOUS, type Caller } from '../base/caller.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { newToken } from '../model/token.ts';
import { tokenDraft } from '../model/token-record.ts';
import { untilApproval } from './outcome.ts';
import { CALLER_STAGES, STORE_STAGES, servicesFor, stagesOf } from './pipeline.ts';

const WHY = { actor: 'user:ada', reason: 'test', requestId: 'r' };
const PRESENCE: Op = { op: 'delete', key: { kind: 'Presence', name: 'web-1' } };
const POLICY: Op = { op: 'create', record: draftOf(policy('made', { action: 'DENY', peerSelector: {} })) };

/** Services that note what a write asks of them, and callers that note when they are asked for again. */
function traced({ services }: Kit) {
  const trace: string[] = [];
  const { store } = services;
  const noting: typeof services = {
    ...services,
    store: {
      ...store,
      async get(workspace, key, asOf) {
        trace.push(`read ${key.kind}`);
        return store.get(workspace, key, asOf);
      },
      async getById(workspace, kind, id) {
        trace.push(`read ${kind} by its id`);
        return store.getById(workspace, kind, id);
      },
      async caughtUp(workspaces) {
        trace.push('heard');
        return store.caughtUp(workspaces);
      },
      async commit(workspace, ops, context) {
        const checked = ops.flatMap((op) => (op.op === 'check' ? op.key.name : []));
        trace.push(`commit, holding ${checked.join(' and ')}`);
        return store.commit(workspace, ops, context);
      },
    },
    async computed(computation, input, asker) {
      trace.push(computation.name);
      return services.computed(computation, input, asker);
    },
  };
  const askedAgain = (caller: Caller): Caller => ({
    ...caller,
    async again() {
      trace.push(`may ${caller.name}`);
      return caller;
    },
  });
  return { services: noting, trace, askedAgain };
}

test('the stages of a write have one order', () => {
  const names = (stages: readonly { readonly name: string }[]) => stages.map(({ name }) => name);
  expect(names(CALLER_STAGES)).toEqual([
    'beginInTime',
    'checkStanding',
    'readRecords',
    'signRecords',
    'judge',
    'requireApproval',
    'joinWorkflow',
    'holdStanding',
  ]);
  expect(names(STORE_STAGES)).toEqual(['askAuthor', 'limitWeight', 'keepDepartures', 'reserveRoom']);
  expect(names(stagesOf({ kind: 'anonymous' }, [POLICY]))).toEqual(['beginInTime']);
  expect(names(stagesOf({ kind: 'enrolment' }, [POLICY]))).toEqual(['beginInTime', 'holdStanding']);
  expect(names(stagesOf({ kind: 'device' }, [PRESENCE]))).toEqual(['beginInTime', 'holdStanding']);
  const peer: Op = { op: 'create', record: { ...POLICY.record, kind: 'MeshPeer' } as never };
  expect(stagesOf({ kind: 'device' }, [PRESENCE, peer])).toBe(CALLER_STAGES);
  for (const kind of ['user', 'agent', 'local'] as const) expect(stagesOf({ kind }, [PRESENCE])).toBe(CALLER_STAGES);
});

test('a write asks each stage once, and whether its caller still may right before the commit', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { services, trace, askedAgain } = traced(kit);
  const { store } = servicesFor(services, { caller: askedAgain(person('admin', workspace, 'ada')) });
  await store.commit(workspace, [POLICY], WHY);
  const held = ['read Member', 'heard', 'may ada', 'commit, holding ada'];
  expect(trace).toEqual(['may ada', 'read MeshPolicy', 'read Workspace by its id', ...held]);
});

test('a write that needs approval ends the work that made it, before anything is held or committed', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { services, trace, askedAgain } = traced(kit);
  const bot = agent(['network:write'], workspace);
  await ensureAgent(kit.services, bot);
  const { store } = servicesFor(services, { caller: askedAgain(bot) });
  const open = draftOf(policy('made', { action: 'ALLOW', peerSelector: {}, ingress: [{}] }));
  const outcome = await untilApproval(async () => {
    await store.commit(workspace, [{ op: 'create', record: open }], WHY);
    trace.push('went on');
  });
  expect(outcome).toMatchObject({ status: 'needsApproval', need: { workspaces: [workspace], isDecision: false } });
  expect(trace).toEqual(['may agent', 'read MeshPolicy', 'judge_writes', 'read Workspace by its id']);
});

test('a trial says why a write would need approval, and is over before anything is committed', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { services, trace, askedAgain } = traced(kit);
  const { store } = servicesFor(services, { caller: askedAgain(person('admin', workspace, 'ada')) });
  expect(await store.trial?.(workspace, [POLICY], 'r')).toEqual([]);
  expect(trace).toEqual(['read Member', 'heard', 'may ada', 'read MeshPolicy', 'read Workspace by its id']);
  const settings = { settings: { requireApproval: true } };
  await kit.call('update_workspace', settings, { as: person('platform_admin', workspace), workspace });
  expect(await store.trial?.(workspace, [POLICY], 'r')).toEqual(['creates the policy made']);
  expect(trace.filter((step) => step.startsWith('commit'))).toEqual([]);
});

test('a new credential of an API token rests on one read of the token', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { services, trace, askedAgain } = traced(kit);
  const expiresAt = kit.clock.time + 60_000;
  const api = tokenDraft(newToken('api'), { kind: 'api', name: 'ci', owner: 'ada', createdBy: 'user:ada', expiresAt });
  await kit.services.store.commit(workspace, [{ op: 'create', record: api }], WHY);
  const spec = { kind: 'join', name: 'any', owner: '', createdBy: 'user:ada', network: 'default', expiresAt } as const;
  const record = tokenDraft(newToken('join'), spec);
  const ci = { ...person('admin', workspace, 'ada'), interactive: false, tokenId: api.uid };
  const { store } = servicesFor(services, { caller: askedAgain(ci) });
  const { changes } = await store.commit(workspace, [{ op: 'create', record }], WHY);
  expect(changes[0]?.record.spec).toMatchObject({ madeWith: api.uid });
  expect(trace.filter((step) => step === 'read Token by its id')).toHaveLength(1);
  expect(trace.at(-1)).toBe(`commit, holding ada and ${api.name}`);
});

test('the store of a caller never lies over that of another one', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { services, trace, askedAgain } = traced(kit);
  const ada = askedAgain(person('viewer', workspace, 'ada'));
  const ofAda = servicesFor(services, { caller: ada });
  // As an operation has it whose record is held to a revision.
  const store = { ...ofAda.store, commit: () => Promise.reject(new Error('the store of ada')) };
  const within: typeof ofAda = { ...ofAda, store };
  const ofBob = servicesFor(within, { caller: askedAgain(person('admin', workspace, 'bob')) });
  await ofBob.store.commit(workspace, [POLICY], WHY);
  expect(trace.filter((step) => /ada|bob/.test(step))).toEqual(['may bob', 'may bob', 'commit, holding bob']);
  expect(ofBob.storeFor).toBe(ofAda.storeFor);
});

test('a call without a credential, such as a login, writes nothing once it is too late, but completes what it began', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  let isLate = false;
  const requireTimely = () => {
    if (isLate) throw new Error('Sent before a standstill.');
  };
  const services = servicesFor(kit.services, { caller: ANONYMOUS, requireTimely });
  const write = (name: string) => seedPeers(services, workspace, { [name]: {} });
  await write('first');
  isLate = true;
  await write('second');
  const late = servicesFor(kit.services, { caller: ANONYMOUS, requireTimely });
  await expect(seedPeers(late, workspace, { third: {} })).rejects.toThrow('standstill');
  const { items } = await kit.services.store.list(workspace, 'MeshPeer');
  expect(items.map(({ name }) => name)).toEqual(['first', 'second']);
});
