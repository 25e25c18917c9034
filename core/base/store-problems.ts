import { MeshError } from './errors.ts';
import type { StoreError, StoreErrorCode } from './ports.ts';
import type { Kind } from './record.ts';

/** When it may be over: an election takes some seconds. */
const SOON = { retryAfterSeconds: 5 };

/** True for kinds whose records callers know by name. Errors about other kinds name no record. */
const IS_KNOWN: Readonly<Record<Kind, boolean>> = {
  MeshPeer: true,
  MeshPolicy: true,
  MeshNetwork: true,
  AgentIdentity: true,
  PolicyAssertion: true,
  Workflow: true,
  Plan: true,
  Snapshot: true,
  Assessment: true,
  Review: true,
  Webhook: true,
  Workspace: true,
  Account: true,
  Presence: false,
  Token: false,
  Member: false,
  Session: false,
  DirectoryUser: false,
  DirectoryGroup: false,
  AddressRest: false,
  AssessmentPage: false,
  ComplianceDrift: false,
  ReviewPage: false,
  ReviewDue: false,
  WebhookDelivery: false,
};

const FROM_STORE: Readonly<Record<StoreErrorCode, (subject: string) => MeshError>> = {
  conflict: namingRecord(
    (subject) => new MeshError('conflict', `${subject} was changed by someone else: read it again and retry.`),
  ),
  changed: () => new MeshError('conflict', 'The network changed again and again while this was judged: send it again.'),
  already_exists: namingRecord(
    (subject) => new MeshError('conflict', `${subject} exists already: choose another name.`),
  ),
  // A slot, an address, a key or the digest of a token: whoever sends it again is told by the operation what is in the way.
  unique: () => contended(),
  not_found: namingRecord((subject) => new MeshError('not_found', `There is no ${subject}.`)),
  compacted: (subject) => new MeshError('expired', `${subject} is older than what is kept.`),
  too_large: (subject) =>
    new MeshError(
      'payload_too_large',
      `${isKnown(subject) ? subject : 'A record of this'} is too large to store: at most 8 KB compressed.`,
    ),
  full: () => storageFull(),
  fenced: () =>
    new MeshError('unavailable', 'Another control plane took this work over. Nothing was written; try again.', SOON),
  // Without an answer from the store, nobody knows whether the write was committed.
  unavailable: () =>
    new MeshError('unavailable', 'The store does not answer: try again. A write that was under way may stand.', SOON),
  lost: () =>
    new MeshError(
      'unavailable',
      'The database of the control plane is gone, replaced or damaged. Nothing was written, and trying again does not help: the operator has to look at it.',
    ),
};

/** Makes an error that names its record only where callers know that record, and only for a single record. */
function namingRecord(told: (subject: string) => MeshError): (subject: string) => MeshError {
  return (subject) => (isKnown(subject) && !/^\w+\/.* /.test(subject) ? told(subject) : contended());
}

function isKnown(subject: string): boolean {
  const [kind = ''] = subject.split('/');
  return !Object.hasOwn(IS_KNOWN, kind) || IS_KNOWN[kind as Kind];
}

/** A write was tried as often as one is, and each time another one had come between. */
function contended(): MeshError {
  const message = 'Others wrote at the same moment, again and again, so this was not written: send it again.';
  return new MeshError('unavailable', message, SOON);
}

/** It is refused before the disk is full (`core/base/reserve.ts`). */
export function storageFull(): MeshError {
  return new MeshError(
    'storage_full',
    'The disk of the control plane is full: nothing was written. Deleting and revoking still work, and the login of administrators; the operator has to make room.',
  );
}

/** Returns the error that a caller receives for a refusal of the store. */
export function fromStore(error: StoreError): MeshError {
  const { code, message, details } = FROM_STORE[error.code](error.subject);
  return new MeshError(code, message, details, { cause: error });
}
