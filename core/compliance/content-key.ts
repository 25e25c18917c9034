import { createHash } from 'node:crypto';
import { memoize } from '../base/memoize.ts';
import type { StoredRecord } from '../base/record.ts';
import { endOf, type StateMoment } from '../history/network-moments.ts';
import type { NetworkState } from '../state/state.ts';

const SUM_BITS = 256;

/**
 * A key of what the network says at each moment: equal where all records say the same and the same of them have ended.
 * Moved on by what a moment changes, so that a year of moments costs what was written.
 */
export class ContentKey {
  #sum = 0n;
  readonly #ended = new Map<StoredRecord, bigint>();

  constructor(start: NetworkState) {
    for (const record of recordsOf(start)) this.#sum += hashOf(record);
  }

  /** Returns the key at the next moment. Moments have to be passed in order. */
  at({ state, at, changes }: StateMoment): string {
    for (const { type, record, before } of changes) {
      if (before) this.#sum -= hashOf(before);
      if (before) this.#ended.delete(before);
      if (type === 'deleted') continue;
      this.#sum += hashOf(record);
      this.#note(record, at);
    }
    if (changes.length === 0) for (const record of recordsOf(state)) this.#note(record, at);
    let total = this.#sum;
    for (const hash of this.#ended.values()) total += hash;
    return BigInt.asUintN(SUM_BITS, total).toString(16);
  }

  #note(record: StoredRecord, at: number): void {
    if (endOf(record).some((end) => end <= at)) this.#ended.set(record, hashOfText(`ended ${hashOf(record)}`));
  }
}

function recordsOf({ peers, policies, networks, agents }: NetworkState): StoredRecord[] {
  return [peers, policies, networks, agents].flatMap((records) => [...records.values()]);
}

/** Kept beside the record: from one moment to the next nearly all are the same objects. */
const hashOf = memoize(({ kind, name, uid, labels, annotations, spec, status }: StoredRecord) =>
  hashOfText(JSON.stringify([kind, name, uid, labels, annotations, spec, status])),
);

function hashOfText(text: string): bigint {
  return BigInt(`0x${createHash('sha256').update(text).digest('hex')}`);
}
