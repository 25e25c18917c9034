import { MeshError } from '../base/errors.ts';
import type { StoreError, StoreErrorCode } from '../base/ports.ts';

/** When it may be over: an election takes some seconds. */
const SOON = { retryAfterSeconds: 5 };

const FROM_STORE: Readonly<Record<StoreErrorCode, (subject: string) => MeshError>> = {
  conflict: (subject) => new MeshError('conflict', `${subject} was changed by someone else: read it again and retry.`),
  changed: () => new MeshError('conflict', 'The network changed again and again while this was judged: send it again.'),
  already_exists: (subject) => new MeshError('conflict', `${subject} exists already: choose another name.`),
  unique: (subject) => new MeshError('conflict', `${subject} is in use already.`),
  not_found: (subject) => new MeshError('not_found', `There is no ${subject}.`),
  compacted: (subject) => new MeshError('expired', `${subject} is older than what is kept.`),
  too_large: (subject) =>
    new MeshError('payload_too_large', `${subject} is too large to store: at most 8 KB compressed.`),
  full: () => storageFull(),
  fenced: () =>
    new MeshError('unavailable', 'Another control plane took this work over. Nothing was written; try again.', SOON),
  // Of an answer that did not come nobody knows whether it was to be a yes.
  unavailable: () =>
    new MeshError('unavailable', 'The store does not answer: try again. A write that was under way may stand.', SOON),
  lost: () =>
    new MeshError(
      'unavailable',
      'The database of the control plane is gone, replaced or damaged. Nothing was written, and trying again does not help: the operator has to look at it.',
    ),
};

/** It is refused before the disk is full (`core/base/reserve.ts`). */
export function storageFull(): MeshError {
  return new MeshError(
    'storage_full',
    'The disk of the control plane is full: nothing was written. Deleting and revoking still work, and the login of administrators; the operator has to make room.',
  );
}

/** What a refusal of the store is to the one who asked. */
export function fromStore(error: StoreError): MeshError {
  const { code, message, details } = FROM_STORE[error.code](error.subject);
  return new MeshError(code, message, details, { cause: error });
}
