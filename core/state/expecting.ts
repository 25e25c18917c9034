import { z } from 'zod';
import { MeshError } from '../base/errors.ts';
import type { AnyOperation, CallContext, ExpectedRecord } from '../base/operation.ts';
import { type Op, type Store, StoreError } from '../base/ports.ts';
import { foldName, type RecordKey, type StoredRecord } from '../base/record.ts';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { normalizeName } from '../model/resources.ts';
import { lookUpPeer } from './find-peer.ts';
import type { NetworkServices } from './services.ts';

export const expectedRevision = z
  .int()
  .min(1)
  .optional()
  .describe('Of the record as you read it: where it has changed since, nothing is written (409)');

/** Input of an operation that writes the one record that `id` names. */
export const addressedFields = {
  id: lineOfText(TEXT_LIMITS.reference).min(1).describe('Id or name'),
  revision: expectedRevision,
};

/** The revision that a record is held to which is not there: none ever has it. */
const NEVER_REACHED = Number.MAX_SAFE_INTEGER;

const addressed = z.looseObject({ id: z.string(), revision: z.int().optional() });

/**
 * Runs an operation. Where its call names a revision, it writes only while its record is at it: the check is part of the
 * commit. An approved call runs so too, at the time of its approval.
 *
 * @throws MeshError `conflict` for a record that has changed since
 */
export async function runExpecting<Services extends NetworkServices>(
  operation: Pick<AnyOperation<Services>, 'addresses' | 'run'>,
  input: unknown,
  context: CallContext<Services>,
): Promise<unknown> {
  const { revision, ...rest } = operation.addresses ? addressed.parse(input) : {};
  if (revision === undefined) return operation.run(input as never, context);
  const record = await addressedRecord(operation, rest, context);
  const { services, workspace } = context;
  if (!record) {
    // The operation itself says what is not there; should it find something after all, it writes nothing.
    const store = refusingStore(services.store, revision);
    return operation.run(rest as never, { ...context, services: { ...services, store } });
  }
  requireRevision(record, revision);
  const { kind, name, uid } = record;
  const expected = { kind, name, uid, revision };
  const store = expectingStore(services.store, workspace, expected);
  return operation.run(rest as never, { ...context, services: { ...services, store }, expected });
}

/** The record that a call is about; undefined where there is none, or the operation is about no single one. */
export async function addressedRecord(
  { addresses }: Pick<AnyOperation<never>, 'addresses'>,
  input: unknown,
  { services, workspace }: CallContext<NetworkServices>,
): Promise<StoredRecord | undefined> {
  const named = addressed.safeParse(input);
  if (!addresses || !named.success) return undefined;
  const { store } = services;
  const id = addresses === 'MeshPeer' ? await peerId(services, workspace, named.data.id) : named.data.id;
  // As everywhere, an id comes before a name that reads like one.
  const byId = await store.getById(workspace, addresses, id);
  return byId ?? store.get(workspace, { kind: addresses, name: normalizeName(id) });
}

/** A peer is named by its overlay address too. */
async function peerId({ states }: Pick<NetworkServices, 'states'>, workspace: string, given: string): Promise<string> {
  return lookUpPeer(await states.current(workspace), given)?.uid ?? given;
}

/** The entity tag of one version of a record. What follows from other records, as its status does, is not part of it. */
export function entityTagOf(uid: string, revision: number): string {
  return `"${uid}.${revision}"`;
}

/** Entity tags of an `If-Match`, each with its quotes; `any` for `*`. */
export type EntityTags = readonly string[] | 'any';

/**
 * Returns the input of a call, with the revision that its entity tags mean.
 *
 * @throws MeshError `precondition_failed` when none of them is that of the record
 */
export async function withRevision(
  operation: Pick<AnyOperation<never>, 'addresses' | 'title'>,
  raw: Readonly<Record<string, unknown>>,
  tags: EntityTags,
  context: CallContext<NetworkServices>,
): Promise<Readonly<Record<string, unknown>>> {
  if (!operation.addresses) {
    const detail = `${operation.title} is about no single record, so If-Match guards nothing: leave it out.`;
    throw new MeshError('invalid_input', detail);
  }
  const record = await addressedRecord(operation, raw, context);
  if (!record) return { revision: NEVER_REACHED, ...raw };
  // It asks that the record is there, and says nothing about the version that the caller has seen.
  if (tags === 'any') return raw;
  const { kind, name, uid, revision } = record;
  if (!tags.includes(entityTagOf(uid, revision))) {
    throw preconditionFailed(`${kind} ${name} has changed: it is ${entityTagOf(uid, revision)} now.`);
  }
  return { revision, ...raw };
}

export function preconditionFailed(what: string): MeshError {
  return new MeshError('precondition_failed', `${what} Nothing was written: read it again and decide anew.`);
}

/** @throws MeshError `conflict` */
export function requireRevision(record: Pick<StoredRecord, 'kind' | 'name' | 'revision'>, expected: number): void {
  if (record.revision !== expected) throw changedSince(record, expected, record.revision);
}

function changedSince({ kind, name }: RecordKey, expected: number, revision: number): MeshError {
  return new MeshError(
    'conflict',
    `${kind} ${name} has changed: it is at revision ${revision}, not ${expected}. Read it again and decide anew.`,
    { expected_revision: expected, revision },
  );
}

/** Returns true if an error says that a record is not at the revision that the call names. */
export function isChangedSince(error: unknown): error is MeshError {
  return error instanceof MeshError && error.details['expected_revision'] !== undefined;
}

/** Writes nothing: the record that a revision was named of cannot be told. */
function refusingStore(store: Store, revision: number): Store {
  const message = 'The revision that you named cannot be checked, so nothing is written: name the record by its id.';
  const refusal = () => new MeshError('conflict', message, { expected_revision: revision });
  return { ...store, commit: () => Promise.reject(refusal()) };
}

/** Adds the check to the commits of a call, until one has written the record. */
function expectingStore(store: Store, workspace: string, expected: ExpectedRecord): Store {
  const { kind, name, revision } = expected;
  let isWritten = false;
  return {
    ...store,
    async commit(partition, ops, context) {
      if (isWritten || partition !== workspace) return store.commit(partition, ops, context);
      const check: Op = { op: 'check', key: { kind, name }, revision };
      try {
        const commit = await store.commit(partition, [check, ...ops], context);
        isWritten = ops.some((op) => writes(op, expected));
        return commit;
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== 'conflict') throw error;
        const now = await store.get(partition, { kind, name });
        if (now?.revision === revision) throw error;
        throw changedSince(expected, revision, now?.revision ?? 0);
      }
    },
  };
}

function writes(op: Op, { kind, name }: RecordKey): boolean {
  if (op.op === 'check') return false;
  const key = op.op === 'delete' ? op.key : op.record;
  return key.kind === kind && foldName(key.name) === foldName(name);
}
