import { MongoError, MongoNetworkError, MongoServerError } from 'mongodb';
import { StoreError } from '../../core/base/ports.ts';
import { unavailable } from '../unavailable.ts';

const DUPLICATE_KEY = 11_000;
const OUT_OF_DISK_SPACE = 14_031;
const WRITE_CONFLICT = 112;
const MAX_TIME_EXPIRED = 50;

export function isDuplicate(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** True if no part of a transaction was written and it can be retried. Two that begin the same log meet at its first entry. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  const isConflict = error instanceof MongoServerError && error.code === WRITE_CONFLICT;
  return error.hasErrorLabel('TransientTransactionError') || isConflict || isDuplicate(error);
}

/**
 * True if an operation reached its time limit: a transaction of another writer has changed the same documents and is not over.
 */
export function isBlocked(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED;
}

/** HostUnreachable, HostNotFound, MaxTimeMSExpired, NetworkTimeout, ShutdownInProgress, ReadConcernMajorityNotAvailableYet, PrimarySteppedDown, SnapshotTooOld, SnapshotUnavailable, ExceededTimeLimit, SocketException, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary. */
const TRANSIENT = new Set([6, 7, 50, 89, 91, 134, 189, 239, 246, 262, 9_001, 10_107, 11_600, 11_602, 13_435, 13_436]);

/** True for a lost connection, a change of primary or a time limit, after which the same operation is retried. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof MongoNetworkError ||
    isBlocked(error) ||
    (error instanceof MongoServerError && TRANSIENT.has(Number(error.code)))
  );
}

/** True if it is unknown whether a transaction was committed. The commit is retried, which writes nothing twice. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
}

/**
 * Turns a failure that the driver reports (no primary, no answer, closed) into `unavailable`, and a full disk into `full`;
 * returns everything else unchanged.
 */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError && error.code === OUT_OF_DISK_SPACE) {
    return new StoreError('full', error.message, { cause: error });
  }
  return unavailable(`the database: ${error.message}`, error);
}
