import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { grantKey, type OAuthArtifact, type OAuthArtifactKind, type OAuthGrant } from '../model/oauth.ts';
import { tokenKey } from '../model/token.ts';
import type { TokenRecord } from '../model/token-record.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import { agentRights } from './agent-rights.ts';

type Reads = Pick<NetworkServices, 'store' | 'clock'>;

/** The record of a grant, whose agent lives. */
export interface FoundGrant {
  readonly record: TokenRecord;
  readonly grant: OAuthGrant;
  /** When the agent ends, ms. */
  readonly endsAt: number;
}

/** Base64url characters of the id of a grant (128 bits), with which its codes and refresh tokens begin. */
const ID_LENGTH = 22;
const TAIL_BYTES = 16;
const PREFIX = { code: 'mesh-oac-', refresh: 'mesh-ort-' } as const;
const VALUE = /^mesh-(?:oac|ort)-([A-Za-z0-9_-]{22})[A-Za-z0-9_-]{21}$/;

export function newGrantId(): string {
  return randomBytes(16).toString('base64url');
}

/**
 * Returns a code or refresh token: the id of its grant, which finds it, and a part that is new each time. One whose id is known
 * and whose rest is not is an earlier one, used again: nobody else knows the id.
 */
export function newArtifact(kind: keyof typeof PREFIX, grantId: string): string {
  return `${PREFIX[kind]}${grantId}${randomBytes(TAIL_BYTES)
    .toString('base64url')
    .slice(0, 43 - ID_LENGTH)}`;
}

/** Returns the id of the grant that a code or refresh token belongs to. */
export function grantIdIn(value: string): string | undefined {
  return VALUE.exec(value)?.[1];
}

/** Returns a grant whose agent, person and workspace still count. */
export async function findGrant(services: Reads, id: string): Promise<FoundGrant | undefined> {
  return standing(services, await services.store.lookup(grantKey(id)));
}

export async function findGrantByAccess(services: Reads, accessToken: string): Promise<FoundGrant | undefined> {
  return standing(services, await services.store.lookup(tokenKey(accessToken)));
}

async function standing(
  services: Reads,
  record: Awaited<ReturnType<Reads['store']['lookup']>>,
): Promise<FoundGrant | undefined> {
  if (record?.kind !== 'Token' || record.spec.kind !== 'oat' || !record.spec.oauth) return undefined;
  if (!(await isOfEpoch(services, record.spec.oauth))) return undefined;
  const rights = await agentRights(services, record.workspace, record.spec.owner);
  if (!rights || rights.endsAt <= services.clock.now()) return undefined;
  return { record, grant: record.spec.oauth, endsAt: rights.endsAt };
}

/** Returns true if a grant was made since its person last signed out everywhere. */
export async function isOfEpoch(services: Pick<Reads, 'store'>, grant: OAuthGrant): Promise<boolean> {
  return isSameEpoch(grant, await accountById(services, grant.account));
}

/** Returns true if no sign-out everywhere ended a grant; true without an account too, whose grants end with their agents. */
export function isSameEpoch({ epoch = 0 }: OAuthGrant, account: AccountRecord | undefined): boolean {
  return !account || (account.spec.grantEpoch ?? 0) === epoch;
}

/** Puts a code or token in place of the one that its grant had; false where the grant has ended. */
export async function saveArtifact(
  services: Reads,
  grantId: string,
  kind: OAuthArtifactKind,
  { value, ...rest }: Omit<OAuthArtifact, 'digest'> & { readonly value: string },
): Promise<boolean> {
  return change(services, grantId, `issue an OAuth ${kind}`, (grant) => ({
    ...grant,
    [kind]: { digest: digestOf(value), ...rest },
  }));
}

/** Marks a code or refresh token as used; false where it was used, or is not the newest: of two uses one counts. */
export async function consumeArtifact(
  services: Reads,
  grantId: string,
  kind: Exclude<OAuthArtifactKind, 'access'>,
  value: string,
): Promise<boolean> {
  return change(services, grantId, `use an OAuth ${kind}`, (grant) => {
    const artifact = grant[kind];
    if (!artifact || artifact.digest !== digestOf(value) || artifact.payload['consumed'] !== undefined)
      return undefined;
    const consumed = Math.floor(services.clock.now() / 1_000);
    return { ...grant, [kind]: { ...artifact, payload: { ...artifact.payload, consumed } } };
  });
}

/** Ends a grant: none of its tokens counts from the commit on. To end one twice is no error. */
export async function endGrant(services: Reads, grantId: string, reason: string | CommitContext): Promise<void> {
  const record = await services.store.lookup(grantKey(grantId));
  if (record?.kind !== 'Token') return;
  const { kind, name, workspace } = record;
  const context = typeof reason === 'string' ? contextOf(record, reason) : reason;
  try {
    await services.store.commit(workspace, [{ op: 'delete', key: { kind, name } }], context);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'not_found') throw error;
  }
}

export function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

/** The `unique` values of the record of a grant. */
export function uniqueOf({ id, access }: OAuthGrant): readonly string[] {
  return [grantKey(id), ...(access ? [`token:${access.digest}`] : [])];
}

/** Undefined of the change: it does not apply to the grant as it is now. */
async function change(
  services: Reads,
  grantId: string,
  reason: string,
  changed: (grant: OAuthGrant) => OAuthGrant | undefined,
): Promise<boolean> {
  for (;;) {
    const found = await findGrant(services, grantId);
    const oauth = found && changed(found.grant);
    if (!found || !oauth) return false;
    const { record } = found;
    const draft = { ...draftOf(record), spec: { ...record.spec, oauth }, unique: uniqueOf(oauth) };
    try {
      const op = { op: 'update', record: draft, revision: record.revision } as const;
      await services.store.commit(record.workspace, [op], contextOf(record, reason));
      return true;
    } catch (error) {
      // Another request of the same client was first: judged again on what it wrote.
      if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
    }
  }
}

function contextOf({ spec }: TokenRecord, reason: string): CommitContext {
  return { actor: `agent:${spec.name}`, reason, requestId: newId('r') };
}
