import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, type Op, StoreError } from '../base/ports.ts';
import { draftOf, type StoredRecord } from '../base/record.ts';
import { hasEnded } from '../base/time.ts';
import { isSpent, isWorkloadRule, type TokenRecord, usedTokenName } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import { accountById, findAccount } from './accounts.ts';
import { isSameEpoch } from './oauth-grants.ts';
import { isMember } from './offboard.ts';
import { isOfAccount } from './sessions.ts';

const BATCH = 100;
const PERSON = 'user:';
/** So long who presents a join token without uses left hears that it is used up, and its devices register again with it. */
const USED_UP_NOTICE_MS = 7 * 24 * 60 * 60_000;
const CONTEXT: CommitContext = {
  actor: 'system:remove-spent-tokens',
  reason: 'removed what has expired or is used up',
  requestId: 'remove-spent-tokens',
};

/**
 * Removes tokens that have expired, and sessions and API tokens that ended; hourly. Join tokens without uses left leave the list of
 * join tokens, and are removed for good a week later. So are join tokens of who has left, which were on their way to the store as their owner was shut out.
 *
 * @returns how many were removed.
 */
export async function removeSpentTokens(services: Pick<NetworkServices, 'store' | 'clock'>): Promise<number> {
  const { store, clock } = services;
  const now = clock.now();
  const accounts = (await store.list(SYSTEM_WORKSPACE, 'Account')).items;
  const byUid = new Map(accounts.map((account) => [account.uid, account]));
  const sessions = (await store.list(SYSTEM_WORKSPACE, 'Session')).items;
  let removed = await remove(
    services,
    sessions.filter((session) => {
      const account = byUid.get(session.spec.account);
      return hasEnded(session.spec, now) || !account || !isOfAccount(session, account);
    }),
  );
  for (const workspace of await store.workspaces()) {
    const tokens = (await store.list(workspace, 'Token')).items;
    const left = await formerOwners(services, workspace, tokens);
    const ended = tokens.filter(({ spec }) => {
      if (spec.kind === 'join' && left.has(ownerOf(spec))) return true;
      if (hasEnded(spec, now)) return true;
      if (spec.kind === 'api') return byUid.get(spec.owner)?.spec.epoch !== spec.epoch;
      if (spec.oauth) return !isSameEpoch(spec.oauth, byUid.get(spec.oauth.account));
      return false;
    });
    const spent = tokens.filter((token) => isUsedUp(token) && !ended.includes(token));
    const old = spent.filter(({ spec }) => (spec.spentAt ?? 0) + USED_UP_NOTICE_MS <= now);
    removed += await remove(services, [...ended, ...old]);
    removed += await unlist(
      services,
      spent.filter((token) => !old.includes(token)),
    );
  }
  return removed;
}

/** A rule for workloads stays where its file says it, until that says more uses. A used-up delegate token goes with its identity. */
function isUsedUp(token: TokenRecord): boolean {
  return token.spec.kind === 'join' && isSpent(token.spec) && !isWorkloadRule(token);
}

/**
 * Returns the owners of join tokens who have left. Reads accounts after the tokens, because some tokens may belong to an
 * account that was made a moment ago.
 */
async function formerOwners(
  services: Pick<NetworkServices, 'store'>,
  workspace: string,
  tokens: readonly TokenRecord[],
): Promise<ReadonlySet<string>> {
  const joins = tokens.flatMap(({ spec }) => (spec.kind === 'join' ? [[ownerOf(spec), spec] as const] : []));
  const left = new Set<string>();
  for (const [key, { owner, createdBy }] of new Map(joins)) {
    if (owner === '' && !createdBy.startsWith(PERSON)) continue;
    const account =
      owner === '' ? await findAccount(services, createdBy.slice(PERSON.length)) : await accountById(services, owner);
    if (!account || !(await isMember(services, workspace, account))) left.add(key);
  }
  return left;
}

/** Returns the id of the account that took a join token over, else the actor who made it. */
function ownerOf({ owner, createdBy }: TokenRecord['spec']): string {
  return owner === '' ? createdBy : owner;
}

/** The record stays what it is, under a name that is in no list. */
async function unlist({ store }: Pick<NetworkServices, 'store'>, spent: readonly TokenRecord[]): Promise<number> {
  const listed = spent.filter(({ name, uid }) => name !== usedTokenName(uid));
  let done = 0;
  for (let start = 0; start < listed.length; start += BATCH) {
    const batch = listed.slice(start, start + BATCH);
    const ops = batch.flatMap((token): Op[] => [
      { op: 'delete', key: { kind: 'Token', name: token.name }, revision: token.revision },
      { op: 'create', record: { ...draftOf(token), name: usedTokenName(token.uid) } },
    ]);
    try {
      await store.commit(batch[0]?.workspace ?? SYSTEM_WORKSPACE, ops, CONTEXT);
      done += batch.length;
    } catch (error) {
      // Someone else removed one of them meanwhile; the rest goes in the next hour.
      if (!(error instanceof StoreError) || error.isOutage) throw error;
    }
  }
  return done;
}

async function remove({ store }: Pick<NetworkServices, 'store'>, records: readonly StoredRecord[]): Promise<number> {
  let removed = 0;
  for (let start = 0; start < records.length; start += BATCH) {
    const batch = records.slice(start, start + BATCH);
    const ops = batch.map(({ kind, name }) => ({ op: 'delete', key: { kind, name } }) as const);
    try {
      await store.commit(batch[0]?.workspace ?? SYSTEM_WORKSPACE, ops, CONTEXT);
      removed += batch.length;
    } catch (error) {
      // Someone else removed one of them meanwhile; the rest goes in the next hour.
      if (!(error instanceof StoreError) || error.isOutage) throw error;
    }
  }
  return removed;
}
