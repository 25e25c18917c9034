/** Prints how large the repository is: `npm run measure`. Lines are those of `wc -l`; binary files have none. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

const PRODUCT = 'core tools llm storage mcp rest net plane client cli bin platform'.split(' ');
const UNWANTED = ['What', 'Of', 'Whether', 'Who', 'Those', 'One', 'That'];
const LARGEST = 15;

interface SourceFile {
  readonly name: string;
  readonly folder: string;
  readonly text: string;
  readonly lines: number;
  readonly kind: 'source' | 'test' | 'other';
}

const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile())
  .map(readSource);
const productAndWeb = files.filter(({ folder, kind }) => kind === 'source' && [...PRODUCT, 'web'].includes(folder));

function readSource(name: string): SourceFile {
  const bytes = readFileSync(name);
  const text = bytes.includes(0) ? '' : bytes.toString('utf8');
  const folder = name.includes('/') ? (name.split('/')[0] ?? '') : '(top)';
  const isTest = /\.(?:test|testkit|test-suite)\.tsx?$/.test(name) || folder === 'test';
  const kind = !/\.tsx?$/.test(name) ? 'other' : isTest ? 'test' : 'source';
  return { name, folder, text, lines: text.split('\n').length - 1, kind };
}

const linesOf = (some: readonly SourceFile[]) => some.reduce((sum, { lines }) => sum + lines, 0);

function printRow(label: string, ...cells: readonly (string | number)[]): void {
  console.log(label.padEnd(16) + cells.map((cell) => String(cell).padStart(10)).join(''));
}

function printFolders(): void {
  const folders = Map.groupBy(files, ({ folder }) => folder);
  const rows = [...folders].toSorted(([a], [b]) => a.localeCompare(b));
  rows.push(['All', files], ['Product', PRODUCT.flatMap((folder) => folders.get(folder) ?? [])]);
  printRow('Folder', 'source', 'tests', 'all lines', 'files');
  for (const [label, own] of rows) {
    const ofKind = (kind: SourceFile['kind']) => linesOf(own.filter((file) => file.kind === kind));
    printRow(label, ofKind('source'), ofKind('test'), linesOf(own), own.length);
  }
}

function printSizes(): void {
  const above = productAndWeb.filter(({ lines }) => lines > 300).length;
  const below = productAndWeb.filter(({ lines }) => lines < 30).length;
  console.log(
    `\nSource files of product and web: ${productAndWeb.length}, ${below} below 30 lines, ${above} above 300`,
  );
  printLargest('The largest of them', productAndWeb);
  printLargest('The largest files of any kind', files);
}

function printLargest(title: string, some: readonly SourceFile[]): void {
  const largest = some.toSorted((a, b) => b.lines - a.lines).slice(0, LARGEST);
  console.log([title, ...largest.map(({ name, lines }) => `${String(lines).padStart(6)} ${name}`)].join('\n'));
}

/** Relative imports of a file, of types too. */
function importsOf({ name, text }: SourceFile): readonly string[] {
  const { staticImports, staticExports } = parseSync(name, text).module;
  const passedOn = staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value));
  const targets = [...staticImports.map(({ moduleRequest }) => moduleRequest.value), ...passedOn];
  return [...new Set(targets)]
    .filter((target) => target?.startsWith('.'))
    .map((target) => path.posix.join(path.posix.dirname(name), target ?? ''));
}

/** Groups of files that import one another, by Tarjan's algorithm. */
function circlesOf(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    low.set(file, index);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue;
      const reached = order.has(target) ? (stack.includes(target) ? order.get(target) : undefined) : visit(target);
      low.set(file, Math.min(low.get(file) ?? index, reached ?? index));
    }
    if (low.get(file) === index) circles.push(stack.splice(stack.indexOf(file)));
    return low.get(file) ?? index;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return circles.filter(({ length }) => length > 1).toSorted((a, b) => b.length - a.length);
}

function printCircles(): void {
  const circles = circlesOf(new Map(productAndWeb.map((file) => [file.name, importsOf(file)])));
  console.log(`\nCircles of imports, types included: ${circles.length}`);
  for (const circle of circles) console.log(`${String(circle.length).padStart(6)} ${circle.toSorted().join(' ')}`);
}

function printComments(): void {
  const product = productAndWeb.filter(({ folder }) => folder !== 'web');
  const first = product.flatMap(({ name, text }) =>
    parseSync(name, text).comments.map(({ value }) => /\w+/.exec(value)?.[0]),
  );
  const counts = UNWANTED.map((word) => `${word} ${first.filter((one) => one === word).length}`);
  const sum = first.filter((word) => word !== undefined && UNWANTED.includes(word)).length;
  console.log(
    `\nComments of the product that begin with an unwanted word: ${sum} of ${first.length} (${counts.join(', ')})`,
  );
}

printFolders();
printSizes();
printCircles();
printComments();
