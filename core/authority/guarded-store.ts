import { apiTokenOf, type Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import {
  type Basis,
  type Change,
  type Commit,
  type CommitContext,
  type Op,
  type Store,
  StoreError,
} from '../base/ports.ts';
import type { Kind, RecordDraft, StoredRecord } from '../base/record.ts';
import { inTurn, shareQueue, type Writer } from '../base/serialise.ts';
import { accountById } from '../identity/accounts.ts';
import { CREDENTIAL_KINDS } from '../identity/credential-cache.ts';
import { credentialEnd, grantLimit, requireWithinLimit } from '../identity/grant-limit.ts';
import { requireStillMay } from '../identity/standing.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { together } from '../state/basis.ts';
import type { NetworkServices } from '../state/services.ts';
import { concernedWorkspaces } from './concerned-workspaces.ts';
import { changesDuty, decisionsIn, successorsIn, weakensApproval } from './decisions.ts';
import { newJoinGrants } from './join-grants.ts';
import { type Beyond, beyondAuthority, beyondDelegation, touchesNetwork } from './judge.ts';
import { judgedAgain } from './judged-again.ts';
import { judgeControls, judgeShown, judgeWrites } from './judgements.ts';
import { type ApprovalNeed, NeedsApproval } from './needs-approval.ts';
import { requireShare } from './shares.ts';
import { type Write, writesIn } from './writes.ts';

/** A person's approval, with the ops that its first commit writes besides. */
export interface Approved {
  readonly approval: NonNullable<CommitContext['approval']>;
  /** Workspaces whose people approved it. */
  readonly workspaces: ReadonlySet<string>;
  /** Digest of what the person was shown, see `shownDigest`. */
  readonly shown: string;
  /** The controls of frameworks that the person was told will fail. */
  readonly failsControls: ReadonlySet<string>;
  /**
   * The new state of the workflow, to be committed together with what it allows in that partition, until `taken` says that
   * it was. @throws MeshError `conflict` where it was carried out, or ended, meanwhile
   */
  takeOps(partition: string): Promise<readonly Op[]>;
  taken(partition: string): void;
}

type Reads = Pick<NetworkServices, 'store' | 'states' | 'clock' | 'computed'>;

/**
 * The store as one caller may write to it. Every operation gets this one, so no write of a caller passes unseen: each is
 * held to their credential at the commit, an agent's to its authority too, and what needs a second person is stopped
 * until one has approved it.
 *
 * Enrolments write what their own operation makes, and devices besides the decisions in their own records; jobs of the control
 * plane have the store itself.
 */
export function guardedStore(services: Reads, caller: Caller, approved?: Approved, requireTimely?: () => void): Store {
  const store = BASES.get(services.store) ?? services.store;
  if (caller.kind === 'anonymous') return requireTimely ? timelyStore(store, requireTimely) : store;
  const standing = standingStore({ ...services, store }, caller, requireTimely);
  const guarded = caller.kind === 'enrolment' ? standing : judgingStore(services, standing, caller, approved);
  BASES.set(guarded, store);
  shareQueue(guarded, store, writerOf(caller));
  return guarded;
}

/** A store whose first write is refused once `requireTimely` throws; later ones of the same call complete it. */
function timelyStore(store: Store, requireTimely: () => void): Store {
  let hasWritten = false;
  const timely: Store = {
    ...store,
    async commit(workspace, ops, context) {
      const commit = await store.commit(workspace, ops, hasWritten ? context : { ...context, requireTimely });
      hasWritten = true;
      return commit;
    },
  };
  BASES.set(timely, store);
  shareQueue(timely, store);
  return timely;
}

/** A store that one caller writes to while they are who they were, and `permit`s nobody else. */
function standingStore(
  { store, clock }: Reads,
  caller: Caller,
  requireTimely: (() => void) | undefined,
): Required<Pick<Store, 'permit'>> & Store & { look(workspace: string): Promise<void> } {
  // Other writes of a call that ends its own credential, such as a log-out everywhere, are part of the call.
  let hasEnded = false;
  let hasWritten = false;
  /** By what this control plane has heard. */
  const look = async (workspace: string) => {
    if (!hasEnded) await requireStillMay({ store, clock }, workspace, caller);
  };
  /** Waits until this control plane knows what others have acknowledged. */
  const hear = async (workspace: string) => {
    if (!hasEnded) await store.caughtUp([SYSTEM_WORKSPACE, workspace]);
  };
  return {
    ...store,
    look,
    async permit(workspace) {
      await hear(workspace);
      await look(workspace);
    },
    async commit(workspace, ops, context) {
      const isHeld = !context.isApproved && !hasEnded;
      for (;;) {
        const [held] = isHeld ? await Promise.all([heldTo(store, workspace, caller), hear(workspace)]) : [];
        if (isHeld) await look(workspace);
        await context.requireAskers?.();
        try {
          // Later writes of the same call complete it, even if the caller has gone.
          const why = hasWritten ? context : { ...context, requireTimely };
          const commit = await store.commit(workspace, held ? [held, ...ops] : ops, why);
          hasWritten = true;
          hasEnded ||= commit.changes.some((change) => concerns(change, caller));
          return commit;
        } catch (error) {
          if (!held || !isConflict(error)) throw error;
          const now = await heldTo(store, workspace, caller);
          if (now?.revision === held.revision) throw error;
        }
      }
    },
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'conflict';
}

/**
 * Checks that the record which a caller may write by is still at the revision that it has before their standing is looked
 * at: who is removed while a write of theirs is on its way does not have it written after.
 */
async function heldTo({ get }: Pick<Store, 'get'>, workspace: string, { kind, name }: Caller) {
  const of = HELD_TO[kind];
  if (of === undefined || workspace === SYSTEM_WORKSPACE) return undefined;
  const key = { kind: of, name } as const;
  return { op: 'check', key, revision: (await get(workspace, key))?.revision ?? 0 } as const;
}

const HELD_TO: Readonly<Partial<Record<Caller['kind'], Kind>>> = { user: 'Member', agent: 'AgentIdentity' };

/** Returns true if a change affects a record that a caller's credential rests on. */
function concerns(
  { record: { kind, uid, name } }: Change,
  { id, tokenId, person, line = [], ...caller }: Caller,
): boolean {
  if (kind === 'Member') return name === caller.name;
  return CREDENTIAL_KINDS.has(kind) && [id, tokenId, person, ...line].includes(uid);
}

function judgingStore(
  services: Reads,
  store: ReturnType<typeof standingStore>,
  caller: Caller,
  approval: Approved | undefined,
): Store {
  let hasShown = false;
  const guarded: Store = {
    ...store,
    commit: (workspace, ops, context) =>
      caller.kind === 'agent'
        ? inTurn(guarded, workspace, () => judged(workspace, ops, context))
        : judged(workspace, ops, context),
    async permit(workspace, ops, requestId) {
      if (caller.kind !== 'agent') return;
      await store.permit(workspace, ops, requestId);
      const { beyond } = await beyondOf(services, {
        workspace,
        writes: await writesIn(store, workspace, ops),
        caller,
        requestId,
      });
      if (beyond?.delegated) throw beyondDelegation(beyond);
    },
  };

  async function judged(workspace: string, ops: readonly Op[], context: CommitContext): Promise<Commit> {
    // A device may always leave; of presence and tokens, which it writes all the time, nothing is decided.
    if (caller.kind === 'device' && !ops.some(writesPeer)) return store.commit(workspace, ops, context);
    const attempt = () => attempted(workspace, ops, context);
    // A batch with a read set of its own is made anew by its author.
    return context.basis ? attempt() : judgedAgain(attempt, services.clock);
  }

  async function attempted(workspace: string, ops: readonly Op[], context: CommitContext): Promise<Commit> {
    // Nothing is judged for a caller who has ended. Each commit, that of a request for approval too, looks again, and first
    // hears what other control planes have acknowledged.
    if (!context.isApproved) await store.look(workspace);
    const approved = context.decided === 'earlier' ? undefined : approval;
    const writes = await writesIn(store, workspace, ops);
    const granted = writes.filter(grantsCredential);
    const token = await tokenGranting(services, { workspace, granted, caller });
    const asked: Asked = { workspace, writes, caller, requestId: context.requestId };
    const [need, judgedOn] = isFollowUp(context, caller)
      ? NO_NEED
      : await needOf(services, asked, isPlan(context, approved));
    // A workflow is what approval is: its execution was approved, by a person or by the settings of the workspace.
    const isWorkflow = context.approval !== undefined && (caller.kind !== 'agent' || need?.isDecision === true);
    if (need && !isWorkflow) requireApproved(need, approved);
    if (need && approved) requireControlsAsShown(need, approved);
    const shownOn =
      need && approved ? await requireAsShown(services, asked, hasShown ? OPENS_NOTHING : approved.shown) : undefined;
    const isPersons = caller.kind !== 'agent' || approved !== undefined || Boolean(context.approval?.reviewedBy);
    const keys = new Set(granted.map(({ kind, name }) => `${kind}/${name}`));
    const signed = ops
      .map((op) => withAuthor(op, isPersons ? undefined : caller.id))
      .map((op) => (keys.has(keyOf(op)) ? withTokenOf(op, token?.uid) : op));
    // An API token that is revoked meanwhile makes no credential.
    const held: readonly Op[] = token
      ? [{ op: 'check', key: { kind: 'Token', name: token.name }, revision: token.revision }]
      : [];
    const basis = [context.basis, judgedOn, shownOn].reduce(together);
    const executed = (await approved?.takeOps(workspace)) ?? [];
    const commit = await store.commit(workspace, [...held, ...without(signed, executed), ...executed], {
      ...context,
      ...(approved && { approval: approved.approval }),
      ...(basis && { basis }),
    });
    approved?.taken(workspace);
    hasShown ||= need !== undefined;
    return commit;
  }
  return guarded;
}

/**
 * Checks that no credential that an API token makes outlives what the token may grant, whichever operation makes it.
 *
 * @returns the API token; undefined where the caller has none, or makes no credential
 * @throws MeshError `forbidden`
 */
async function tokenGranting(
  services: Reads,
  { workspace, granted, caller }: Pick<Asked, 'workspace' | 'caller'> & { readonly granted: readonly Write[] },
): Promise<StoredRecord<'Token'> | undefined> {
  const id = apiTokenOf(caller);
  if (id === undefined || granted.length === 0) return undefined;
  const token = await services.store.getById(workspace, 'Token', id);
  const limit = await grantLimit(services, workspace, caller);
  const now = services.clock.now();
  for (const { after } of granted) if (after) requireWithinLimit(credentialEnd(after) ?? now, limit, now);
  return token;
}

/** Says of a credential which API token made or renewed it. What a person makes or renews while signed in is tied to none. */
function withTokenOf(op: Op, token: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'Token') return op;
  const { madeWith: _, ...rest } = op.record.spec;
  const spec = token === undefined ? rest : { ...rest, madeWith: token };
  return { ...op, record: { ...op.record, spec } satisfies RecordDraft };
}

/** Tells whether a write makes a credential, gives it another secret, or lets it live longer. */
function grantsCredential({ before, after }: Write): boolean {
  const end = after && credentialEnd(after);
  if (!after || end === undefined) return false;
  return !before || end > (credentialEnd(before) ?? 0) || !sameValue(before.unique, after.unique);
}

/**
 * Returns the ops without those on records of the executed workflow: the end of a caller cancels their pending workflows, but
 * not the one that carries out this end.
 */
function without(ops: readonly Op[], executed: readonly Op[]): readonly Op[] {
  const carriedOut = new Set(executed.map(keyOf));
  return carriedOut.size === 0 ? ops : ops.filter((op) => !carriedOut.has(keyOf(op)));
}

function keyOf(op: Op): string {
  const { kind, name } = 'record' in op ? op.record : op.key;
  return `${kind}/${name}`;
}

function writesPeer(op: Op): boolean {
  return (op.op === 'create' || op.op === 'update') && op.record.kind === 'MeshPeer';
}

/** Maximum pending writes of an agent with its sub-agents, or of a device. */
const MAY_WAIT = 128;

/** Returns true for a follow-up, which needs no approval. An agent's authority is checked at each write. */
function isFollowUp({ decided }: CommitContext, { kind }: Caller): boolean {
  return decided !== undefined && kind !== 'agent';
}

/** Whose writes wait together: those of a root agent with all below it. Many devices come with one join token at once. */
function writerOf({ kind, id, line }: Caller): Writer {
  const isBounded = kind === 'agent' || kind === 'device';
  return { id: line?.at(-1) ?? id, mayWait: isBounded ? MAY_WAIT : Number.POSITIVE_INFINITY };
}

/** The store behind a guarded one, so that a guard for another caller is not put over it. */
const BASES = new WeakMap<Store, Store>();

/** Digest for later writes of a call: only the first write was shown; the others follow from it and open nothing. */
const OPENS_NOTHING = Symbol('opens nothing');

interface Need extends ApprovalNeed {
  /** True where it is about who decides, and not about the authority of an agent. */
  readonly isDecision: boolean;
}

interface Asked {
  readonly workspace: string;
  readonly writes: readonly Write[];
  readonly caller: Caller;
  readonly requestId: string;
}

/**
 * Why a person has to see a batch first, undefined where none has to; and what that was concluded from.
 *
 * @throws MeshError `beyond_delegation` where nobody may let the caller; `unavailable` where it could not be judged
 */
async function needOf(
  services: Reads,
  asked: Asked,
  isPlanned: boolean,
): Promise<[Need | undefined, Basis | undefined]> {
  const { workspace, writes, caller } = asked;
  const { beyond, basis: judgedOn } = caller.kind === 'agent' ? await beyondOf(services, asked) : {};
  if (beyond?.delegated) throw beyondDelegation(beyond);
  // By its own name and key a device fails no control.
  const controls = isPlanned || caller.kind === 'device' ? NO_CONTROLS : await controlsOf(services, asked);
  const basis = together(judgedOn, controls.basis);
  const { failsControls } = controls;
  const common = { writes, failsControls };
  if (beyond) {
    const reasons = [...beyond.reasons, ...controls.reasons];
    const isDuty = writes.some((write) => changesDuty(write) || weakensApproval(write));
    const asked = { workspaces: [workspace], reasons, rows: beyond.rows, changesDuty: isDuty, isDecision: false };
    return [{ ...common, ...asked }, basis];
  }
  const decisions = decisionsIn(writes, {
    callerId: caller.id,
    successors: await namesOf(services, successorsIn(writes)),
  });
  const concerned = decisions.length === 0 ? NOBODY : await concernedWorkspaces(services, workspace, writes);
  const workspaces = [...new Set([...concerned.workspaces, ...(failsControls.length > 0 ? [workspace] : [])])];
  if (workspaces.length === 0) return [undefined, basis];
  const reasons = [...controls.reasons, ...(concerned.workspaces.length > 0 ? decisions : [])];
  return [{ ...common, workspaces, reasons, rows: [], changesDuty: concerned.changesDuty, isDecision: true }, basis];
}

const NOBODY: Awaited<ReturnType<typeof concernedWorkspaces>> = { workspaces: [], changesDuty: false };

async function namesOf(services: Reads, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await Promise.all(ids.map((id) => accountById(services, id)));
  return new Map(found.flatMap((account) => (account ? [[account.uid, account.name] as const] : [])));
}

const NO_NEED: Awaited<ReturnType<typeof needOf>> = [undefined, undefined];

/** Returns true if the commit carries out a plan, which is judged, with its effect on controls, until its commit. */
function isPlan({ approval }: CommitContext, approved: Approved | undefined): boolean {
  return approval !== undefined && approved === undefined;
}

interface Controls {
  readonly failsControls: readonly string[];
  readonly reasons: readonly string[];
  readonly basis?: Basis;
}

const NO_CONTROLS: Controls = { failsControls: [], reasons: [] };

/** The controls that a batch would have fail, where the workspace demands a second person for it. */
async function controlsOf(services: Reads, { workspace, writes, caller, requestId }: Asked): Promise<Controls> {
  if (workspace === SYSTEM_WORKSPACE || !(touchesNetwork(writes) || newJoinGrants(writes).length > 0))
    return NO_CONTROLS;
  // A workspace that is being made is not in the directory yet.
  const record = await services.store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
  if (!record?.spec.settings.compliance?.secondPerson) return NO_CONTROLS;
  return services.computed(judgeControls, { writes }, { workspace, principal: writerOf(caller).id, requestId });
}

async function beyondOf(
  { store, states, clock, computed }: Reads,
  { workspace, writes, caller, requestId }: Asked,
): Promise<{ readonly beyond?: Beyond | undefined; readonly basis?: Basis }> {
  if (workspace === SYSTEM_WORKSPACE || !caller.workspaces.includes(workspace)) {
    throw new MeshError('forbidden', 'An agent writes in its own workspace only.');
  }
  const [state, now] = [await states.current(workspace), clock.now()];
  await requireShare({ store, clock }, state, caller, writes);
  if (touchesNetwork(writes)) {
    return computed(
      judgeWrites,
      { agent: caller.id, writes },
      { workspace, principal: writerOf(caller).id, requestId },
    );
  }
  return { beyond: beyondAuthority(caller.id, { states, state, writes, now }) };
}

/** @throws NeedsApproval where the people of one of the workspaces have not approved it */
function requireApproved(need: Need, approved: Approved | undefined): void {
  if (!approved || need.workspaces.some((id) => !approved.workspaces.has(id))) throw new NeedsApproval(need);
}

/** @throws MeshError `conflict` where more controls would fail than the person was told */
function requireControlsAsShown({ failsControls }: Need, approved: Approved): void {
  const more = failsControls.filter((control) => !approved.failsControls.has(control));
  if (more.length === 0) return;
  throw new MeshError(
    'conflict',
    `The network has changed since, and this would fail ${more.join(', ')} too: make the call again to ask anew.`,
  );
}

/** @returns what that was concluded from. @throws MeshError `conflict` when it would do something else than what was shown */
async function requireAsShown(
  { computed }: Reads,
  { workspace, writes, caller, requestId }: Asked,
  shown: string | typeof OPENS_NOTHING,
): Promise<Basis> {
  const asker = { workspace, principal: writerOf(caller).id, requestId };
  const { basis, digest, opensNothing } = await computed(judgeShown, { writes }, asker);
  if (shown === OPENS_NOTHING ? opensNothing : digest === shown) return basis;
  throw new MeshError(
    'conflict',
    'The network has changed since, and this would do something else than was shown: make the call again to ask anew.',
  );
}

/** Says of a policy which agent wrote it by itself. What a person writes or approves is a person's from then on. */
export function withAuthor(op: Op, agent: string | undefined): Op {
  if ((op.op !== 'create' && op.op !== 'update') || op.record.kind !== 'MeshPolicy') return op;
  const { [WRITTEN_BY]: _, ...rest } = op.record.annotations;
  const annotations = agent === undefined ? rest : { ...rest, [WRITTEN_BY]: agent };
  return { ...op, record: { ...op.record, annotations } satisfies RecordDraft };
}
