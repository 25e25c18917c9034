import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** A line of code that ARCHITECTURE.md does not allow. */
export interface Violation {
  /** `core/state/find-peer.ts`. */
  readonly file: string;
  /** What it imports or calls. */
  readonly takes: string;
}

interface Allowed {
  readonly folders: readonly string[];
  readonly packages: readonly string[];
}

/** The rules of ARCHITECTURE.md: what each folder may import, and the layers of core in their order. */
export interface Rules {
  readonly folders: ReadonlyMap<string, Allowed>;
  readonly layers: readonly string[];
}

/** Protocols: everything in these folders but the named files is without sockets, timers, clocks and randomness. */
const PURE = ['net/', 'client/paths/'];
const EDGES: ReadonlySet<string> = new Set([
  ...['bus', 'client-connection', 'listener', 'sniff', 'thread', 'worker'].map((name) => `net/nats/${name}.ts`),
  ...['dial', 'listener', 'remote'].map((name) => `net/relay/${name}.ts`),
  'net/stun/listener.ts',
  'client/paths/carrier.ts',
  'client/paths/runtime.ts',
]);
const IMPURE_PACKAGES =
  /^node:(net|dgram|tls|http|https|dns|fs|os|child_process|worker_threads|timers|cluster)(\/|$)|^koffi$/;
const IMPURE_CALLS: ReadonlySet<string> = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'Date'],
  ...['Date.now', 'performance.now', 'Math.random', 'randomBytes', 'randomUUID', 'randomInt', 'getRandomValues'],
  ...['process.env', 'process.nextTick', 'process.hrtime'],
]);

/** Reads the rules from the page. @throws Error where it has none */
export function rulesOf(page: string): Rules {
  const folders = new Map<string, Allowed>();
  for (const [, names = '', allowed = '', packages = ''] of page.matchAll(/^\| (`[^|]*\/`) \|([^|]*)\|([^|]*)\|$/gm)) {
    const clean = allowed.replaceAll(/\(.*?\)/g, '');
    const rule = { folders: listOf(clean), packages: listOf(packages) };
    for (const [, name = ''] of names.matchAll(/`([\w-]+)\/`/g)) folders.set(name, rule);
  }
  const layers = [...page.matchAll(/^\d+\. `(core\/[\w/-]+)\/`/gm)].map(([, layer = '']) => layer);
  if (folders.size === 0 || layers.length === 0) throw new Error('ARCHITECTURE.md has no rules that can be read.');
  return { folders, layers };
}

function listOf(cell: string): string[] {
  return cell
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** What a file takes that the rules do not allow. */
export function violationsIn(file: string, source: string, rules: Rules): Violation[] {
  const { imports, calls } = takenBy(file, source);
  const isPure = PURE.some((folder) => file.startsWith(folder)) && !EDGES.has(file);
  return [
    ...imports.filter((target) => !mayImport(file, target, rules) || (isPure && IMPURE_PACKAGES.test(target))),
    ...(isPure || file.startsWith('core/') ? calls.filter((call) => !isAllowedCall(file, call)) : []),
  ].map((takes) => ({ file, takes }));
}

/** `core` makes ids and secrets from random bytes; it takes neither clocks nor timers. */
function isAllowedCall(file: string, call: string): boolean {
  return file.startsWith('core/') && /^random/.test(call);
}

function mayImport(file: string, target: string, { folders, layers }: Rules): boolean {
  const [own = ''] = file.split('/');
  const allowed = folders.get(own);
  if (!allowed) return false;
  if (!target.startsWith('./')) return allowed.packages.some((name) => fits(target, name));
  const wanted = target.slice(2);
  const [folder = ''] = wanted.split('/');
  if (own === 'core' && folder === 'core') return layerOf(wanted, layers) <= layerOf(file, layers);
  return folder === own || allowed.folders.some((one) => one === '*' || one === folder || one === wanted);
}

/** The place of a file's layer, from 0; after all others where it has none. */
function layerOf(file: string, layers: readonly string[]): number {
  const at = layers.findIndex((layer) => file.startsWith(`${layer}/`));
  return at < 0 ? Number.POSITIVE_INFINITY : at;
}

function fits(name: string, allowed: string): boolean {
  if (allowed === '*') return true;
  if (allowed.endsWith('*')) return name.startsWith(allowed.slice(0, -1));
  return name === allowed || name.startsWith(`${allowed}/`);
}

/** Imports as packages or as `./folder/file.ts` from the root; calls by their names. Types count. */
function takenBy(file: string, source: string): { readonly imports: string[]; readonly calls: string[] } {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} is no code that can be read: ${errors[0]?.message}`);
  const imports: string[] = [];
  const calls: string[] = [];
  const add = (specifier: unknown) => {
    if (typeof specifier !== 'string') return;
    imports.push(specifier.startsWith('.') ? `./${path.posix.join(path.posix.dirname(file), specifier)}` : specifier);
  };
  const call = (name: string | undefined) => {
    if (name !== undefined && IMPURE_CALLS.has(name)) calls.push(name);
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value),
    ExportNamedDeclaration: (node) => add(node.source?.value),
    ExportAllDeclaration: (node) => add(node.source.value),
    ImportExpression: (node) => add('value' in node.source ? node.source.value : undefined),
    TSImportType: (node) => add(node.source.value),
    CallExpression: (node) => call(source.slice(node.callee.start, node.callee.end)),
    NewExpression: (node) =>
      node.arguments.length === 0 ? call(source.slice(node.callee.start, node.callee.end)) : undefined,
    MemberExpression: (node) => call(source.slice(node.start, node.end)),
  }).visit(program);
  return { imports, calls: [...new Set(calls)] };
}

/** The rules as they are written. */
export function writtenRules(): Rules {
  return rulesOf(readFileSync('ARCHITECTURE.md', 'utf8'));
}
