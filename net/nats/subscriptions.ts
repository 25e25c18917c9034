import { ownCopy } from './bytes.ts';
import { hasWildcard } from './subject.ts';

/** An entry of the index: anything with a subject and, for a queue group, its name. */
export interface Entry {
  readonly subject: string;
  readonly queue: string | undefined;
}

export interface Match<E extends Entry> {
  readonly plain: readonly E[];
  /** Per queue group the members on all matching subjects: one of them gets the message. */
  readonly queues: readonly (readonly E[])[];
}

/** The subscribers of one subject. */
interface Subscribers<E extends Entry> {
  plain: Set<E> | undefined;
  queues: Map<string, Set<E>> | undefined;
}

interface Node<E extends Entry> extends Subscribers<E> {
  children: Map<string, Node<E>> | undefined;
}

/** Bytes of an entry itself, and of each node of the tree that a wildcard may need; measured, rounded up. */
const ENTRY_BYTES = 768;
const NODE_BYTES = 256;

/** Returns the most memory that a subscription takes, in bytes. */
export function subscriptionBytes({ subject, queue, sid }: Entry & { readonly sid: string }): number {
  const nodes = hasWildcard(subject) ? subject.split('.').length : 0;
  return ENTRY_BYTES + nodes * NODE_BYTES + 2 * subject.length + sid.length + (queue?.length ?? 0);
}

/** All subscriptions: those without a wildcard by their subject, the others as a tree of its tokens. */
export class SubscriptionIndex<E extends Entry> {
  readonly #literals = new Map<string, Subscribers<E>>();
  readonly #wildcards: Node<E> = emptyNode();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(entry: E): void {
    attach(hasWildcard(entry.subject) ? this.#nodeOf(entry.subject) : this.#literal(entry.subject), entry);
    this.#size++;
  }

  /** Removes the entry and every node it leaves empty. */
  remove(entry: E): void {
    const { subject } = entry;
    if (hasWildcard(subject)) {
      this.#removeWildcard(entry);
      return;
    }
    const literal = this.#literals.get(subject);
    if (literal === undefined || !detach(literal, entry)) return;
    this.#size--;
    if (hasNone(literal)) this.#literals.delete(subject);
  }

  /** Subscriptions for a published subject, whose `*` and `>` are ordinary tokens. */
  match(subject: string): Match<E> {
    const found: Matches<E> = { plain: [], queues: new Map() };
    const literal = this.#literals.get(subject);
    if (literal !== undefined) take(literal, found);
    if (this.#wildcards.children !== undefined) {
      const tokens = subject.split('.');
      if (!tokens.includes('')) collect(this.#wildcards, tokens, 0, found);
    }
    return { plain: found.plain, queues: [...found.queues.values()] };
  }

  #literal(subject: string): Subscribers<E> {
    let literal = this.#literals.get(subject);
    if (literal === undefined) {
      literal = { plain: undefined, queues: undefined };
      this.#literals.set(subject, literal);
    }
    return literal;
  }

  #nodeOf(subject: string): Node<E> {
    let node = this.#wildcards;
    for (const token of subject.split('.')) {
      node.children ??= new Map();
      let next = node.children.get(token);
      if (next === undefined) {
        next = emptyNode();
        // A part of another string would keep the whole of it, also when its subscription has gone.
        node.children.set(ownCopy(token), next);
      }
      node = next;
    }
    return node;
  }

  #removeWildcard(entry: E): void {
    const tokens = entry.subject.split('.');
    const path: Node<E>[] = [this.#wildcards];
    for (const token of tokens) {
      const next = path.at(-1)?.children?.get(token);
      if (next === undefined) return;
      path.push(next);
    }
    const last = path.at(-1);
    if (last === undefined || !detach(last, entry)) return;
    this.#size--;
    for (let depth = tokens.length; depth > 0; depth--) {
      const node = path[depth];
      if (node === undefined || node.children !== undefined || !hasNone(node)) return;
      const above = path[depth - 1];
      above?.children?.delete(tokens[depth - 1] ?? '');
      if (above?.children?.size === 0) above.children = undefined;
    }
  }
}

function emptyNode<E extends Entry>(): Node<E> {
  return { children: undefined, plain: undefined, queues: undefined };
}

function hasNone<E extends Entry>({ plain, queues }: Subscribers<E>): boolean {
  return plain === undefined && queues === undefined;
}

function attach<E extends Entry>(to: Subscribers<E>, entry: E): void {
  if (entry.queue === undefined) {
    to.plain ??= new Set();
    to.plain.add(entry);
    return;
  }
  to.queues ??= new Map();
  const group = to.queues.get(entry.queue);
  if (group === undefined) to.queues.set(entry.queue, new Set([entry]));
  else group.add(entry);
}

function detach<E extends Entry>(from: Subscribers<E>, entry: E): boolean {
  if (entry.queue === undefined) {
    if (!from.plain?.delete(entry)) return false;
    if (from.plain.size === 0) from.plain = undefined;
    return true;
  }
  const group = from.queues?.get(entry.queue);
  if (!group?.delete(entry)) return false;
  if (group.size === 0) from.queues?.delete(entry.queue);
  if (from.queues?.size === 0) from.queues = undefined;
  return true;
}

interface Matches<E> {
  readonly plain: E[];
  readonly queues: Map<string, E[]>;
}

function collect<E extends Entry>(node: Node<E>, tokens: readonly string[], at: number, found: Matches<E>): void {
  const token = tokens[at];
  if (token === undefined) {
    take(node, found);
    return;
  }
  const children = node.children;
  if (children === undefined) return;
  const rest = children.get('>');
  if (rest !== undefined) take(rest, found);
  const any = children.get('*');
  if (any !== undefined) collect(any, tokens, at + 1, found);
  if (token === '*' || token === '>') return;
  const exact = children.get(token);
  if (exact !== undefined) collect(exact, tokens, at + 1, found);
}

function take<E extends Entry>({ plain, queues }: Subscribers<E>, found: Matches<E>): void {
  if (plain !== undefined) for (const entry of plain) found.plain.push(entry);
  if (queues === undefined) return;
  for (const [name, group] of queues) {
    const members = found.queues.get(name) ?? [];
    for (const entry of group) members.push(entry);
    found.queues.set(name, members);
  }
}
