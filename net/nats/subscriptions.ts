/** What the tree stores: anything with a subject and, for a queue group, its name. */
export interface Entry {
  readonly subject: string;
  readonly queue: string | undefined;
}

export interface Match<E extends Entry> {
  readonly plain: readonly E[];
  /** Per queue group of each subscribed subject, its members: one of them gets the message. */
  readonly queues: readonly (readonly E[])[];
}

interface Node<E extends Entry> {
  children: Map<string, Node<E>> | undefined;
  plain: Set<E> | undefined;
  queues: Map<string, Set<E>> | undefined;
}

/** Bytes of an entry itself, and of each node of the tree that it may need; estimated, rounded up. */
const ENTRY_BYTES = 512;
const NODE_BYTES = 256;

/** What a subscription costs in memory at most. */
export function subscriptionBytes({ subject, queue, sid }: Entry & { readonly sid: string }): number {
  const tokens = subject.split('.').length;
  return ENTRY_BYTES + tokens * NODE_BYTES + subject.length + sid.length + (queue?.length ?? 0);
}

/** All subscriptions, as a tree of subject tokens. A match visits only nodes that can match. */
export class SubscriptionTree<E extends Entry> {
  readonly #root: Node<E> = emptyNode();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(entry: E): void {
    let node = this.#root;
    for (const token of entry.subject.split('.')) {
      node.children ??= new Map();
      let next = node.children.get(token);
      if (next === undefined) {
        next = emptyNode();
        node.children.set(token, next);
      }
      node = next;
    }
    this.#size++;
    if (entry.queue === undefined) {
      node.plain ??= new Set();
      node.plain.add(entry);
      return;
    }
    node.queues ??= new Map();
    const group = node.queues.get(entry.queue);
    if (group === undefined) node.queues.set(entry.queue, new Set([entry]));
    else group.add(entry);
  }

  /** Removes the entry and every node it leaves empty. */
  remove(entry: E): void {
    const tokens = entry.subject.split('.');
    const path: Node<E>[] = [this.#root];
    for (const token of tokens) {
      const next = path.at(-1)?.children?.get(token);
      if (next === undefined) return;
      path.push(next);
    }
    const leaf = path.at(-1);
    if (leaf === undefined || !detach(leaf, entry)) return;
    this.#size--;
    for (let depth = tokens.length; depth > 0; depth--) {
      const node = path[depth];
      if (node === undefined || !isEmpty(node)) return;
      path[depth - 1]?.children?.delete(tokens[depth - 1] ?? '');
    }
  }

  /** Subscriptions for a published subject, whose `*` and `>` are ordinary tokens. */
  match(subject: string): Match<E> {
    const tokens = subject.split('.');
    const found = { plain: [] as E[], queues: [] as E[][] };
    if (!tokens.includes('')) collect(this.#root, tokens, 0, found);
    return found;
  }
}

function emptyNode<E extends Entry>(): Node<E> {
  return { children: undefined, plain: undefined, queues: undefined };
}

function isEmpty<E extends Entry>(node: Node<E>): boolean {
  return !node.children?.size && !node.plain?.size && !node.queues?.size;
}

function detach<E extends Entry>(node: Node<E>, entry: E): boolean {
  if (entry.queue === undefined) return node.plain?.delete(entry) ?? false;
  const group = node.queues?.get(entry.queue);
  if (!group?.delete(entry)) return false;
  if (group.size === 0) node.queues?.delete(entry.queue);
  return true;
}

interface Found<E> {
  readonly plain: E[];
  readonly queues: E[][];
}

function collect<E extends Entry>(node: Node<E>, tokens: readonly string[], at: number, found: Found<E>): void {
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

function take<E extends Entry>(node: Node<E>, found: Found<E>): void {
  if (node.plain !== undefined) for (const entry of node.plain) found.plain.push(entry);
  if (node.queues !== undefined) for (const group of node.queues.values()) found.queues.push([...group]);
}
