import type { Random } from '../faults/random.ts';
import type { ApiAnswer } from '../kits/http/harness.ts';
import type { Operation, Version, Write } from './history.ts';

/** Calls a control plane that the rig picks, on a connection of its own. @throws Error where no whole answer came */
export type Send = (method: string, route: string, body?: unknown) => Promise<ApiAnswer>;

export interface ClientsOptions {
  /** Says which control plane is asked next. */
  readonly send: Send;
  readonly random: Random;
  readonly clients: number;
  /** Of each client; as many as there are until it is over, unless given. */
  readonly operations?: number;
  readonly isOver?: () => boolean;
  /** Told of each operation as it ends. */
  readonly onEnd?: (count: number) => void;
}

export const KEYS = ['k-0', 'k-1', 'k-2', 'k-3', 'k-4'] as const;

/**
 * Clients that make, replace, delete and list policies of one workspace all at once. The value of a policy is its port, and
 * each is written once.
 */
export async function runClients({
  send,
  random,
  clients,
  operations = Number.POSITIVE_INFINITY,
  isOver = () => false,
  onEnd,
}: ClientsOptions): Promise<Operation[]> {
  const history: Operation[] = [];
  let value = 0;
  const client = async (name: string, own: Random) => {
    /** What it has read last. */
    let known: readonly Version[] | undefined;
    for (let count = 0; count < operations && !isOver(); count += 1) {
      const by = `${name}, its ${count}.`;
      if (known === undefined || own.chance(0.5)) {
        const began = performance.now();
        const read = await list(send).catch(() => undefined);
        if (read) {
          known = read;
          history.push({ op: 'read', by, keys: KEYS, versions: read, began, ended: performance.now() });
        }
      } else {
        value += 1;
        history.push(await write(send, { by, ...asked(own, known, value) }));
      }
      onEnd?.(history.length);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(`client ${index}`, random.fork())));
  return history;
}

type Asked = Pick<Write, 'key' | 'value' | 'ifRevision'>;

function asked(random: Random, known: readonly Version[], value: number): Asked {
  const key = random.pick(KEYS);
  const there = known.find((version) => version.key === key);
  if (!there) return { key, value, ifRevision: 0 };
  return { key, ifRevision: there.revision, ...(random.chance(0.8) && { value }) };
}

async function write(send: Send, { by, ...wanted }: Asked & Pick<Write, 'by'>): Promise<Write> {
  const began = performance.now();
  const answer = await sent(send, wanted).catch(() => undefined);
  const ended = performance.now();
  const said = { op: 'write', by: `${by} (${JSON.stringify(wanted)})`, ...wanted, began } as const;
  if (answer?.text.includes('stood still')) return { ...said, ended, outcome: 'nothing' };
  if (answer === undefined || answer.status >= 500)
    return { ...said, ended: Number.POSITIVE_INFINITY, outcome: 'unknown' };
  if (answer.status < 300) {
    const { revision } = answer.body;
    return { ...said, ended, outcome: revision === undefined ? 'done' : { done: revision } };
  }
  if (answer.status === 409 || answer.status === 404) return { ...said, ended, outcome: 'refused' };
  throw new Error(`${said.by} was answered ${answer.status}: ${answer.text}`);
}

function sent(send: Send, { key, value, ifRevision }: Asked): Promise<ApiAnswer> {
  const route = `/policies/${key}`;
  if (value === undefined) return send('DELETE', `${route}?revision=${ifRevision}`);
  const spec = specOf(value);
  return ifRevision === 0
    ? send('POST', '/policies', { name: key, spec })
    : send('PUT', route, { spec, revision: ifRevision });
}

/** Returns a policy spec whose port stands for the written value. */
export function specOf(value: number) {
  return {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [
      { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: value }] },
    ],
  };
}

/** Undefined where the answer is none that says something of the workspace. */
async function list(send: Send): Promise<readonly Version[] | undefined> {
  const { status, body, text } = await send('GET', '/policies?limit=50');
  if (status >= 500) return undefined;
  if (status !== 200) throw new Error(`a list was answered ${status}: ${text}`);
  return body.items.map(({ name: key, revision, spec }: { name: string; revision: number; spec: PolicySpec }) => ({
    key,
    revision,
    value: portOf(spec),
  }));
}

interface PolicySpec {
  readonly ingress: readonly { readonly ports: readonly { readonly port: number }[] }[];
}

/** The value that a policy was written with. */
export function portOf({ ingress }: PolicySpec): number | undefined {
  return ingress[0]?.ports[0]?.port;
}
