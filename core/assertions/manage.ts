import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { permitFirst } from '../base/permit-first.ts';
import { type AsOf, type ReadSet, StoreError } from '../base/ports.ts';
import { draftOf, type RecordDraft } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { formatSecond } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import { findRecord, lookUp } from '../model/find.ts';
import { NAME_PATTERN, normalizeName } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { beginsOf, stateAt } from '../state/begins.ts';
import { networkReadSet } from '../state/read-set.ts';
import type { HistoryServices, NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type AssertionMeta, type AssertionRecord, type AssertionSpec, assertionDraft } from './assertion.ts';
import { checker, type Flaw } from './check.ts';
import { ENDS, isThere, statusUnder, withDeparted } from './departed-peers.ts';

type AssertionCall = CallContext<HistoryServices>;

/** Every write of the network is held to all of them. */
export const MAX_ASSERTIONS = 1_000;

/** The assertions of a workspace by name, now or as of a point of its history. */
export async function assertionsOf(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  asOf?: AsOf,
): Promise<ReadonlyMap<string, AssertionRecord>> {
  const { items } = await store.list(workspace, 'PolicyAssertion', asOf ? { asOf } : {});
  return new Map(items.map((record) => [record.name, record]));
}

/** By id or name. @throws MeshError `not_found` */
export async function findAssertion(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  id: string,
): Promise<AssertionRecord> {
  return findRecord(await assertionsOf(services, workspace), 'assertion', id);
}

/** Tells whether an assertion holds, and why not, or for whom it is judged as if they were there. */
export interface AssertionVerdict {
  readonly holds: boolean;
  readonly detail: string | null;
}

/** Says of each assertion whether it holds now. */
export async function assertionChecker(
  services: HistoryServices,
  workspace: string,
): Promise<(record: AssertionRecord) => AssertionVerdict> {
  const state = await services.states.current(workspace);
  const check = checkerOf(services, withDeparted(state, (await assertionsOf(services, workspace)).values()));
  return ({ spec, status }) => {
    const flaw = check(spec);
    if (flaw) return { holds: false, detail: flaw.detail };
    const away = ENDS.flatMap((end) => (status[end] && !isThere(state, spec[end]) ? [spec[end]] : []));
    const detail = `${away.join(' and ')} left the network: judged by the labels and the network of that time`;
    return { holds: true, detail: away.length > 0 ? detail : null };
  };
}

function checkerOf({ states, clock }: HistoryServices, state: NetworkState): (spec: AssertionSpec) => Flaw | undefined {
  return checker(state, states.reachability(state, clock.now()));
}

/**
 * Adds an assertion. One that does not hold now is refused: it would guard nothing, since only what holds can break.
 *
 * @throws MeshError `policy_assertion_failed` with why it does not hold, `conflict` for a taken name.
 */
export async function createAssertion(
  context: AssertionCall,
  name: string | undefined,
  spec: AssertionSpec,
  meta: AssertionMeta,
): Promise<AssertionRecord> {
  const { services, workspace } = context;
  const stored = normalizeName(name ?? nameOf(spec));
  if (!NAME_PATTERN.test(stored)) {
    const detail = 'A name is 1 to 63 letters, digits, ".", "_" or "-", and not "." or "..".';
    throw invalidInput([{ pointer: '/name', detail }], detail);
  }
  return serialized(services.store, workspace, async () => {
    const record = assertionDraft(stored, spec, meta);
    const ops = [{ op: 'create', record }] as const;
    const readSet = await permitFirst(context, ops, async () => {
      requireRoom(await assertionsOf(services, workspace), stored);
      return requireHolds(services, workspace, record);
    });
    const commit = commitContext(context, `created assertion ${stored}`, { readSet });
    return writtenRecord(await services.store.commit(workspace, ops, commit), record);
  });
}

function requireRoom(all: ReadonlyMap<string, AssertionRecord>, name: string): void {
  if (lookUp(all, name)) {
    throw new MeshError('conflict', `An assertion ${name} exists already: replace it, or choose another name.`);
  }
  if (all.size >= MAX_ASSERTIONS) {
    throw new MeshError('conflict', `A workspace has at most ${MAX_ASSERTIONS} assertions: delete some first.`);
  }
}

/** Replaces what an assertion says. @throws MeshError as {@link createAssertion} */
export async function replaceAssertion(
  context: AssertionCall,
  id: string,
  spec: AssertionSpec,
  { labels, annotations }: AssertionMeta,
): Promise<AssertionRecord> {
  const { services, workspace } = context;
  return serialized(services.store, workspace, async () => {
    const before = await findAssertion(services, workspace, id);
    const meta = { ...(labels && { labels }), ...(annotations && { annotations }) };
    const record = { ...draftOf(before), spec, status: statusUnder(spec, before), ...meta };
    if (sameValue(record, draftOf(before))) return before;
    const op = { op: 'update', record, revision: before.revision } as const;
    const readSet = await permitFirst(context, [op], () => requireHolds(services, workspace, record));
    const commit = commitContext(context, `updated assertion ${before.name}`, { readSet });
    return writtenRecord(await services.store.commit(workspace, [op], commit), before);
  });
}

/** @returns the name of what is gone */
export async function deleteAssertion(context: AssertionCall, id: string): Promise<string> {
  const { services, workspace } = context;
  const { kind, name, revision } = await findAssertion(services, workspace, id);
  try {
    const op = { op: 'delete', key: { kind, name }, revision } as const;
    await services.store.commit(workspace, [op], commitContext(context, `deleted assertion ${name}`));
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
    throw new MeshError('conflict', `The assertion ${name} has just been changed: look at it again.`);
  }
  return name;
}

/**
 * Now and at each begin of policies to come: it would have them deleted then, and nobody who approved them would know.
 *
 * @returns the network that it holds of
 */
async function requireHolds(
  services: HistoryServices,
  workspace: string,
  record: RecordDraft<'PolicyAssertion'>,
): Promise<ReadSet> {
  const { name, spec } = record;
  const state = await services.states.current(workspace);
  const departed = withDeparted(state, [record]);
  const now = services.clock.now();
  for (const at of [now, ...beginsOf(departed).filter((begin) => begin > now)]) {
    const then = stateAt(departed, at);
    const flaw = checker(then, services.states.reachability(then, at))(spec);
    if (!flaw) continue;
    const why =
      at === now
        ? `does not hold now: ${flaw.detail}. Change the network first, then assert that it stays so.`
        : `would not hold from ${formatSecond(at)} on, when policies begin: ${flaw.detail}. Delete or change those that wait first.`;
    throw new MeshError('policy_assertion_failed', `The assertion ${name} ${why}`, {
      failures: [{ name, ...spec, ...flaw }],
      failed: 1,
    });
  }
  return networkReadSet(state);
}

const MAX_NAME = 63;

/** A name made of what it says. */
function nameOf({ src, dst, protocol, port, expect }: AssertionSpec): string {
  const ports = [protocol, port].filter((part) => part !== undefined).join('-');
  const text = [src, expect === 'reachable' ? 'reaches' : 'never-reaches', dst, ports]
    .filter((part) => part !== '')
    .join('-');
  return text
    .replaceAll('*', 'any')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, MAX_NAME)
    .toLowerCase();
}
