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
  ...['bus', 'client-connection', 'listener', 'steady-clock', 'thread', 'worker'].map((name) => `net/nats/${name}.ts`),
  ...['account-updates', 'external-bus', 'reconnecting-connection', 'server-identity'].map(
    (name) => `net/bus/${name}.ts`,
  ),
  ...['dial', 'listener', 'remote'].map((name) => `net/relay/${name}.ts`),
  'net/stun/listener.ts',
  // What a test says of another's package.
  'net/stun/stun-package.d.ts',
  'client/paths/carrier.ts',
  'client/paths/runtime.ts',
]);
/** Engines of the store, each in a folder of its own, which `storage/open.ts` alone chooses between. */
const ENGINE = /^storage\/(?!copy\/)[\w-]+\//;
const IMPURE_PACKAGES =
  /^node:(net|dgram|tls|http|https|dns|fs|os|child_process|worker_threads|timers|cluster)(\/|$)|^koffi$|^@nats-io\//;
const IMPURE_CALLS: ReadonlySet<string> = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch', 'Date'],
  ...['Date.now', 'performance.now', 'Math.random', 'randomBytes', 'randomUUID', 'randomInt', 'getRandomValues'],
  ...['process.env', 'process.nextTick', 'process.hrtime'],
]);

/** Tests and their kits, which may take what they need and which nothing else takes. */
export function isTestFile(file: string): boolean {
  return /\.test\.[cm]?tsx?$|\.testkit\.ts$|\.test-suite\.ts$|test-certificate\.ts$|^(test|bench|examples)\//.test(
    file,
  );
}

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
  if (isTestFile(wanted) && !isTestFile(file)) return false;
  const [engine] = ENGINE.exec(wanted) ?? [];
  if (engine !== undefined && !file.startsWith(engine) && file !== 'storage/open.ts') return false;
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

/** A file of the repository as `./folder/file.ts`, however it is written; a package by its name. */
function targetOf(file: string, specifier: string): string {
  const [plain = ''] = decoded(specifier).split(/[?#]/);
  const isPath = /^(\.|\/|file:|#)/.test(specifier);
  if (!isPath) return specifier;
  const joined = plain.startsWith('.') ? path.posix.join(path.posix.dirname(file), plain) : '../absolute';
  return `./${joined}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What an import of a name is that is worked out at run time: nothing may be imported so. */
const COMPUTED = '(a name that is computed)';
const LOADER_NAMES: ReadonlySet<string> = new Set(['createRequire', 'getBuiltinModule', 'require']);
const LOADERS = /(^|\.)(require|getBuiltinModule)$|^process\.(dlopen|binding|_linkedBinding)$|createRequire\(/;

/** The text of a literal, a template without holes too. */
function textOf(node: unknown): string | undefined {
  const { type, value, quasis } = node as {
    readonly type?: string;
    readonly value?: unknown;
    readonly quasis?: readonly { readonly value: { readonly cooked: string | null } }[];
  };
  if (typeof value === 'string') return value;
  return type === 'TemplateLiteral' && quasis?.length === 1 ? (quasis[0]?.value.cooked ?? undefined) : undefined;
}

/** Imports as packages or as `./folder/file.ts` from the root; calls by their names. Types count. */
function takenBy(file: string, source: string): { readonly imports: string[]; readonly calls: string[] } {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} is no code that can be read: ${errors[0]?.message}`);
  const imports: string[] = [];
  const calls: string[] = [];
  const add = (specifier: unknown) => {
    if (typeof specifier !== 'string') return;
    imports.push(targetOf(file, specifier));
  };
  const call = (name: string | undefined) => {
    if (name !== undefined && IMPURE_CALLS.has(name)) calls.push(name);
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source.value),
    ExportNamedDeclaration: (node) => add(node.source?.value),
    ExportAllDeclaration: (node) => add(node.source.value),
    ImportExpression: (node) => add(textOf(node.source) ?? COMPUTED),
    TSImportType: (node) => add(node.source.value),
    CallExpression: (node) => {
      call(nameOf(node.callee));
      // `require('x')`, `createRequire(…)('x')`, `process.getBuiltinModule('x')`: other ways to the same.
      if (LOADERS.test(nameOf(node.callee)))
        add(node.arguments[0] ? (textOf(node.arguments[0]) ?? COMPUTED) : COMPUTED);
    },
    NewExpression: (node) => {
      if (node.arguments.length === 0) call(nameOf(node.callee));
      // A worker or a file is named by a URL beside this one.
      if (nameOf(node.callee) === 'URL' && nameOf(node.arguments[1]) === 'import.meta.url')
        add(textOf(node.arguments[0]));
    },
    TSExternalModuleReference: (node) => add(node.expression.value),
    MemberExpression: (node) => call(nameOf(node)),
    // Bound to another name it would be called unseen.
    Identifier: (node) => {
      if (LOADER_NAMES.has(node.name)) imports.push(node.name);
    },
  }).visit(program);
  // A reference like an import, which only some compilers follow.
  for (const [, target] of source.matchAll(/^\/\/\/\s*<reference\s+(?:path|types)="([^"]+)"/gm)) add(target);

  /** As it is written, without spaces, comments, brackets or `?.`. */
  function nameOf(node: { readonly start: number; readonly end: number } | undefined): string {
    if (!node) return '';
    return source
      .slice(node.start, node.end)
      .replaceAll(/\/\*.*?\*\/|\s+/gs, '')
      .replaceAll(/(?:\?\.)?\[(['"`])(\w+)\1\]/g, '.$2')
      .replaceAll('?.', '.')
      .replace(/^globalThis\./, '');
  }
  return { imports, calls: [...new Set(calls)] };
}

/** The rules as they are written. */
export function writtenRules(): Rules {
  return rulesOf(readFileSync('ARCHITECTURE.md', 'utf8'));
}
