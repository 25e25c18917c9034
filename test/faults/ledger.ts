import type { ApiAnswer } from '../kits/http/harness.ts';
import { EMPTY, type Network, withoutPolicy } from './oracle.ts';
import type { Place, Write } from './writes.ts';

/** Of an answer that was not expected, characters. */
const MOST_SHOWN = 300;

/** A moment at which nothing was under way, and what the network was then. */
export interface Moment {
  readonly at: string;
  readonly network: Network;
}

/** The plain list of what a workspace was told to do, and what of it was acknowledged. */
export class Ledger {
  /** After all that was acknowledged, and all of the rest that was found done. */
  network: Network = EMPTY;
  /** Sent, and not answered: each may have been done or not. */
  readonly open = new Set<Write>();
  /** Not done for sure, and why; none is expected while the disk is whole. */
  readonly refused: string[] = [];
  readonly moments: Moment[] = [];
  /** Tokens of devices by name. */
  readonly credentials = new Map<string, string>();
  /** How often the audit log has to tell of each change. */
  readonly told = new Map<string, number>();
  /** What the audit log has told so far. */
  readonly heard = { seq: 0, at: '', changes: new Map<string, number>() };
  acknowledged = 0;
  private awaited = { count: Number.POSITIVE_INFINITY, reached: (): void => undefined };
  /** Requests that were cut off, by what became of them. */
  readonly cut = { done: 0, undone: 0 };

  /** Resolves once so many more are acknowledged. */
  more(count: number): Promise<void> {
    return new Promise((reached) => {
      this.awaited = { count: this.acknowledged + count, reached };
    });
  }

  /** Sends it. @returns the answer that acknowledged it */
  async write(place: Place, write: Write): Promise<ApiAnswer | undefined> {
    this.open.add(write);
    const answer = await write.send(place).catch(() => undefined);
    if (answer === undefined) return undefined;
    if (answer.status >= 200 && answer.status < 300) {
      this.acknowledged += 1;
      if (this.acknowledged >= this.awaited.count) this.awaited.reached();
      this.settle(write, true);
      if (answer.body?.deviceToken !== undefined) this.credentials.set(answer.body.name, answer.body.deviceToken);
      return answer;
    }
    // A store that failed may have written all the same; anything else was refused before.
    if (answer.status < 500) this.settle(write, false);
    this.refused.push(`${write.changes.join()} answered ${answer.status}: ${answer.text.slice(0, MOST_SHOWN)}`);
    return undefined;
  }

  /** What became of one that was not answered. */
  settleCut(write: Write, isDone: boolean): void {
    this.cut[isDone ? 'done' : 'undone'] += 1;
    this.settle(write, isDone);
  }

  /** What became of one. */
  private settle(write: Write, isDone: boolean): void {
    this.open.delete(write);
    if (!isDone) return;
    this.network = write.apply(this.network);
    for (const change of write.changes) this.tell(change.join(' '));
  }

  tell(change: string): void {
    this.told.set(change, (this.told.get(change) ?? 0) + 1);
  }

  /** A policy whose time is over is deleted by the control plane. */
  expired(name: string): void {
    this.network = withoutPolicy(this.network, name);
    this.tell(`deleted MeshPolicy ${name}`);
  }

  /** As it is now, for a control plane that is set back to this. Nothing is under way. */
  copy(): Ledger {
    const copy = new Ledger();
    copy.network = this.network;
    copy.moments.push(...this.moments);
    copy.heard.seq = this.heard.seq;
    copy.heard.at = this.heard.at;
    for (const map of ['told', 'credentials'] as const) copyInto(copy[map] as Map<string, unknown>, this[map]);
    copyInto(copy.heard.changes, this.heard.changes);
    return copy;
  }

  /** What is as it was at this moment, for questions about the past. */
  remember(at: string): void {
    this.moments.push({ at, network: this.network });
  }
}

function copyInto<T>(to: Map<string, T>, from: ReadonlyMap<string, T>): void {
  for (const [name, value] of from) to.set(name, value);
}
