import { eachDespiteFailures } from '../base/each-despite-failures.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { PeerServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { endOrphans, heirIn, offboardingOps, passSchedules } from './offboard.ts';

/** The call that decides it finishes it too; only what it left for so long is taken up by the job. */
const TAKEOVER_MS = 60_000;

/**
 * Ends in every workspace what hangs on an account that is leaving, and at last deletes the account or says of it that all
 * has ended. Each workspace is a commit of its own, so whoever comes to it later does the rest; twice, or by two at once, is
 * no harm. One workspace that cannot be written does not keep what is in the others.
 */
export async function finishLeaving(services: PeerServices, account: AccountRecord, why: CommitContext): Promise<void> {
  const context = { decided: 'now', ...why } as const;
  const { items } = await services.store.list(SYSTEM_WORKSPACE, 'Workspace');
  await eachDespiteFailures(items, ({ uid }) => leaveWorkspace(services, uid, account, context));
  await settle(services, account, context);
}

/**
 * Finishes for accounts what a call that was cut short has left.
 *
 * @returns when the next one is due, ms; undefined where none is leaving
 */
export async function finishAllLeaving(services: PeerServices): Promise<number | undefined> {
  const { store, clock } = services;
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Account');
  const now = clock.now();
  const leaving = items.flatMap((account) =>
    account.spec.leaving ? [{ account, due: account.spec.leaving.since + TAKEOVER_MS }] : [],
  );
  await eachDespiteFailures(
    leaving.filter(({ due }) => due <= now),
    ({ account }) => {
      const context = { actor: 'system:people', reason: `${account.name} left`, requestId: newId('r') };
      return finishLeaving(services, account, context);
    },
  );
  const later = leaving.map(({ due }) => due).filter((due) => due > now);
  return later.length === 0 ? undefined : Math.min(...later);
}

async function leaveWorkspace(
  services: PeerServices,
  workspace: string,
  account: AccountRecord,
  context: CommitContext,
): Promise<void> {
  const { store } = services;
  const heir = await heirIn(services, workspace, { uid: account.uid, successor: account.spec.successor });
  const leave = async () => {
    const isDeleted = account.spec.leaving?.to === 'deleted';
    const ops = [
      ...(await offboardingOps(services, workspace, account, heir)),
      ...(isDeleted ? await membershipOps(services, workspace, account) : []),
    ];
    // Last: what goes by name may be another's once somebody else has finished. An earlier version may have enabled it.
    if (!(await leavingNow(services, account))?.spec.disabled) return 0;
    if (ops.length > 0) await store.commit(workspace, ops, context);
    return ops.length;
  };
  // Repeats for records that they wrote while the rest was read.
  while ((await serialized(store, workspace, leave)) > 0);
  await endOrphans(services, workspace, context);
  await passSchedules(services, workspace, account, heir, context);
}

async function membershipOps(
  { store }: Pick<PeerServices, 'store'>,
  workspace: string,
  { name }: AccountRecord,
): Promise<Op[]> {
  const key = { kind: 'Member', name } as const;
  const member = await store.get(workspace, key);
  return member ? [{ op: 'delete', key, revision: member.revision }] : [];
}

async function settle(services: PeerServices, account: AccountRecord, context: CommitContext): Promise<void> {
  await serialized(services.store, SYSTEM_WORKSPACE, async () => {
    const now = await leavingNow(services, account);
    if (!now) return;
    const { kind, name, revision } = now;
    const { leaving, ...spec } = now.spec;
    const op: Op =
      leaving?.to === 'deleted' && spec.disabled
        ? { op: 'delete', key: { kind, name }, revision }
        : { op: 'update', record: { ...draftOf(now), spec }, revision };
    await services.store.commit(SYSTEM_WORKSPACE, [op], context);
  });
}

/** The account as it is now; undefined where it is settled, or something else was decided, which its own call finishes. */
async function leavingNow(services: PeerServices, { uid, spec }: AccountRecord): Promise<AccountRecord | undefined> {
  const now = await accountById(services, uid);
  return now?.spec.leaving && now.spec.leaving.to === spec.leaving?.to ? now : undefined;
}
