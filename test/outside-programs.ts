import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** Functions of Node that start a program, which is their first argument. */
const STARTS = new Set(['spawn', 'spawnSync', 'execFile', 'execFileSync']);
/** So does `run` of the test kits, with a list of arguments; other functions of this name run `mesh`. */
const RUN = 'run';
/** Take a whole command line. */
const RUNS_LINE = new Set(['exec', 'execSync']);
/** Says whether a program is installed: a test that is skipped without it does not run for everybody. */
const ASKS_FOR = 'isInstalled';
/** Kits that start what is not on every machine. */
const OUTSIDE_KITS =
  /kits\/(?:lab|servers\/(?!free-port)|cluster|web)|kits\/process\/(?:pseudo-terminal|set-clock|python-judges|bound)\b/;

/**
 * Returns the programs beyond Node and the POSIX tools that a file of tests starts, asks for, or uses through a test kit. Sees
 * programs that are named in the call; `.ci/run` runs the tests where there are no others.
 */
export function outsidePrograms(file: string, code: string, tools: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const note = (program: string) => {
    const isOwn = program.includes('/') || ['node', 'npm'].includes(program);
    if (!isOwn && !tools.has(program)) found.push(program);
  };
  const { program } = parseSync(file, code);
  new Visitor({
    ImportDeclaration({ source, importKind }) {
      const target = path.posix.join(path.posix.dirname(file), source.value);
      if (source.value.startsWith('.') && importKind !== 'type' && OUTSIDE_KITS.test(target)) found.push(target);
    },
    CallExpression({ callee, arguments: [first, second] }) {
      const name = nameOf(callee);
      if (first?.type !== 'Literal' || typeof first.value !== 'string' || name === undefined) return;
      const isRun = name === RUN && second?.type === 'ArrayExpression';
      if (STARTS.has(name) || isRun || name === ASKS_FOR) note(first.value);
      if (RUNS_LINE.has(name) && callee.type === 'Identifier') note(first.value.split(' ')[0] ?? '');
    },
  }).visit(program);
  return found;
}

/** `spawn` of `spawn(…)` and of `promisify(spawn)(…)`. */
function nameOf(callee: { readonly type: string }): string | undefined {
  if (callee.type === 'Identifier') return (callee as { readonly type: string; readonly name: string }).name;
  if (callee.type !== 'CallExpression') return undefined;
  const [wrapped] = (callee as { readonly type: string; readonly arguments: readonly { readonly type: string }[] })
    .arguments;
  return wrapped && nameOf(wrapped);
}
