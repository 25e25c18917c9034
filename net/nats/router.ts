import { bytesOf, latin1 } from './bytes.ts';
import { ROUTE_CACHE_BYTES } from './limits.ts';
import { type Paced, pacedOf } from './paces.ts';
import type { Permissions } from './permissions.ts';
import { hashOf, hasWildcard } from './subject.ts';
import { type Entry, SubscriptionIndex } from './subscriptions.ts';

/** A subscription that messages are routed to. */
export interface Routable extends Entry {
  /** As the client named it. */
  readonly sid: string;
}

/** A receiver with the start of its frame, `HMSG subject sid `, ready to copy. */
export interface Target<S extends Routable> {
  readonly subscription: S;
  readonly hmsg: Uint8Array;
  /** The same without the H. */
  readonly msg: Uint8Array;
}

/** Everything known about a published subject. Its receivers never change: a change of subscriptions makes a new one. */
export interface Route<S extends Routable> {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly hash: number;
  /** The kind of rate limit on its messages; undefined without one. */
  readonly paced: Paced | undefined;
  readonly plain: readonly Target<S>[];
  readonly queues: readonly (readonly Target<S>[])[];
  /** Clock of its subject's bucket when it was made; an older one is stale. */
  readonly made: number;
  /** Verdict for the rights asked about last; as a rule all publishers of a subject share them. */
  judgedFor: Permissions | undefined;
  mayPublish: boolean;
}

type Generation<S extends Routable> = Map<number, Route<S>>;

/** Low bits of the first token's hash: a wildcard subscription makes stale only routes with the same. */
const BUCKETS = 256;

/** Subscriptions and a cache of routes by subject, in two generations so that the rarely used ones fall out. */
export class Router<S extends Routable> {
  readonly #index = new SubscriptionIndex<S>();
  #young: Generation<S> = new Map();
  #old: Generation<S> = new Map();
  #youngBytes = 0;
  #clock = 0;
  readonly #changedAt = new Float64Array(BUCKETS);

  get size(): number {
    return this.#index.size;
  }

  add(subscription: S): void {
    this.#index.add(subscription);
    this.#invalidate(subscription.subject);
  }

  remove(subscription: S): void {
    this.#index.remove(subscription);
    this.#invalidate(subscription.subject);
  }

  /** The route of the subject in `buffer`, whose hash the parser computed. */
  route(buffer: Uint8Array, start: number, end: number, hash: number): Route<S> {
    const cached = this.#young.get(hash) ?? this.#promote(hash);
    if (cached !== undefined && sameBytes(cached.bytes, buffer, start, end) && this.isFresh(cached)) return cached;
    return this.#remember(latin1(buffer, start, end), hash);
  }

  /** The route of a subject that is not in a buffer. */
  routeOf(subject: string): Route<S> {
    const hash = hashOf(subject);
    const cached = this.#young.get(hash) ?? this.#promote(hash);
    if (cached !== undefined && cached.subject === subject && this.isFresh(cached)) return cached;
    return this.#remember(subject, hash);
  }

  /** False when a subscription changed that could matter to it. */
  isFresh(route: Route<S>): boolean {
    return route.made >= (this.#changedAt[bucketOf(route.subject)] as number);
  }

  #promote(hash: number): Route<S> | undefined {
    const found = this.#old.get(hash);
    if (found !== undefined) this.#keep(hash, found);
    return found;
  }

  #remember(subject: string, hash: number): Route<S> {
    const { plain, queues } = this.#index.match(subject);
    const bytes = bytesOf(subject);
    const route: Route<S> = {
      subject,
      bytes,
      hash,
      paced: pacedOf(subject),
      plain: targets(bytes, plain),
      queues: queues.map((group) => targets(bytes, group)),
      made: this.#clock,
      judgedFor: undefined,
      mayPublish: false,
    };
    this.#keep(hash, route);
    return route;
  }

  #keep(hash: number, route: Route<S>): void {
    this.#young.set(hash, route);
    this.#youngBytes += routeBytes(route);
    if (this.#youngBytes <= ROUTE_CACHE_BYTES) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  /** A literal subject has one route; a wildcard reaches every route of its first token, or all. */
  #invalidate(subject: string): void {
    this.#clock++;
    if (!hasWildcard(subject)) {
      const hash = hashOf(subject);
      this.#young.delete(hash);
      this.#old.delete(hash);
      return;
    }
    if (hasWildcard(firstToken(subject))) this.#changedAt.fill(this.#clock);
    else this.#changedAt[bucketOf(subject)] = this.#clock;
  }
}

function firstToken(subject: string): string {
  const dot = subject.indexOf('.');
  return dot < 0 ? subject : subject.slice(0, dot);
}

/** From at most four characters of the first token: it is computed for every message. */
function bucketOf(subject: string): number {
  let hash = 0;
  for (let at = 0; at < 4 && at < subject.length; at++) {
    const code = subject.charCodeAt(at);
    if (code === 46) break;
    hash = (hash * 31 + code) | 0;
  }
  return hash & (BUCKETS - 1);
}

/** Bytes of a route, and of each of its receivers with the start of its frame; estimated, rounded up. */
const ROUTE_BYTES = 512;
const TARGET_BYTES = 256;

function routeBytes<S extends Routable>({ bytes, plain, queues }: Route<S>): number {
  let sum = ROUTE_BYTES + 2 * bytes.length;
  for (const group of [plain, ...queues]) {
    sum += TARGET_BYTES;
    for (const { hmsg } of group) sum += TARGET_BYTES + hmsg.length;
  }
  return sum;
}

function sameBytes(bytes: Uint8Array, buffer: Uint8Array, start: number, end: number): boolean {
  const length = bytes.length;
  if (end - start !== length) return false;
  for (let at = 0; at < length; at++) if (bytes[at] !== buffer[start + at]) return false;
  return true;
}

/** In order, those of one sid together; all frame starts lie in one block of memory, in the order they are written. */
function targets<S extends Routable>(subject: Uint8Array, subscriptions: readonly S[]): Target<S>[] {
  const groups = Map.groupBy(subscriptions, ({ sid }) => sid);
  const fixed = HMSG.length + subject.length + 2;
  const block = new Uint8Array([...groups.keys()].reduce((sum, sid) => sum + fixed + sid.length, 0));
  let end = 0;
  return [...groups].flatMap(([sid, group]) => {
    const start = end;
    block.set(HMSG, start);
    block.set(subject, start + HMSG.length);
    end = start + HMSG.length + subject.length;
    block[end++] = SPACE;
    for (let at = 0; at < sid.length; at++) block[end++] = sid.charCodeAt(at);
    block[end++] = SPACE;
    const hmsg = block.subarray(start, end);
    const msg = block.subarray(start + 1, end);
    return group.map((subscription) => ({ subscription, hmsg, msg }));
  });
}

const SPACE = 32;
const HMSG = new Uint8Array(Buffer.from('HMSG '));
