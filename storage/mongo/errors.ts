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

/** Whether nothing of a transaction stands and it can be tried again. Two that begin the same log meet at its first entry. */
export function canStartAgain(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  const isConflict = error instanceof MongoServerError && error.code === WRITE_CONFLICT;
  return error.hasErrorLabel('TransientTransactionError') || isConflict || isDuplicate(error);
}

/** Whether it took as long as it may: another's transaction has written to the same and is not over. */
export function isHeldUp(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === MAX_TIME_EXPIRED;
}

/** HostUnreachable, HostNotFound, MaxTimeMSExpired, NetworkTimeout, ShutdownInProgress, ReadConcernMajorityNotAvailableYet, PrimarySteppedDown, SnapshotTooOld, SnapshotUnavailable, ExceededTimeLimit, SocketException, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary. */
const PASSING = new Set([6, 7, 50, 89, 91, 134, 189, 239, 246, 262, 9_001, 10_107, 11_600, 11_602, 13_435, 13_436]);

/** Whether it was the connection or a change of primary, after which the same is asked again. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof MongoNetworkError ||
    isHeldUp(error) ||
    (error instanceof MongoServerError && PASSING.has(Number(error.code)))
  );
}

/** Whether a transaction may stand or not: it is asked again, which writes nothing twice. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult');
}

/** What the driver says (no primary, no answer, closed) becomes `unavailable`, a full disk `full`; everything else passes. */
export function asStoreError(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  if (error instanceof MongoServerError && error.code === OUT_OF_DISK_SPACE) {
    return new StoreError('full', error.message, { cause: error });
  }
  return unavailable(`the database: ${error.message}`, error);
}
