import { loadavg } from 'node:os';
import { YamlError } from '../core/base/ports.ts';
import { API_VERSION } from '../core/base/record.ts';
import { parseYaml } from '../tools/yaml.ts';
import { machine, spread } from './report.ts';

/** What bodies that are made to be costly take of the processor, read or refused: node bench/yaml.ts */

const ROUNDS = 7;
const BODY = 1_048_576;
const repeated = (unit: string, size = BODY) => unit.repeat(Math.floor(size / unit.length));
const counted = (count: number, line: (index: number) => string, between: string) =>
  Array.from({ length: count }, (_, index) => line(index)).join(between);

const policy = (name: string) => `apiVersion: ${API_VERSION}
kind: MeshPolicy
metadata: { name: ${name}, labels: { team: web } }
spec:
  action: ALLOW
  peerSelector: { matchLabels: { role: db } }
  ingress:
    - from: [{ peerSelector: { matchLabels: { role: web } } }]
      ports: [{ protocol: TCP, port: 5432 }]
`;

const bodies: Readonly<Record<string, string>> = {
  '500 policies': counted(500, (index) => policy(`p${index}`), '---\n'),
  '40 nested dashes and spaces': `${'-  '.repeat(40)}x${repeated(' ')}`,
  '16,000 keys': counted(16_000, (index) => `k${index}: 1`, '\n'),
  '29,000 keys': counted(29_000, (index) => `k${index}: 1`, '\n'),
  '29,000 quoted keys on one line': `{${counted(29_000, (index) => `"k${index}": 1`, ',')}}`,
  '16,000 lines of 30 empty keys': `${'? '.repeat(30)}\n`.repeat(16_000),
  '4,000 lines of 30 nested lists': `${'- '.repeat(30)}\n`.repeat(4_000),
  'pairs in a list': `[${repeated('a: b,', 290_000)}]`,
  anchors: counted(39_000, (index) => `- &a${index} x`, '\n'),
  documents: repeated('a\n...\n', 350_000),
  'one long key': `${repeated('k')}: 1`,
  'one long text with escapes': `"${repeated('\\x41', BODY - 8)}"`,
  'a folded text': `a: >\n${repeated('  x\n x\n', 500_000)}`,
  'only line ends': repeated('\n', 119_000),
  'only spaces': repeated(' '),
  'only NUL': repeated('\0'),
  brackets: `[${repeated(`${'['.repeat(30)}${']'.repeat(30)},`, 119_000)}]`,
};

console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.`);
console.log(`Median of ${ROUNDS} rounds (lowest to highest), ms of the processor in the thread that reads\n`);
console.log('| Body | characters | ms | |\n| --- | --- | --- | --- |');
for (const [name, text] of Object.entries(bodies)) {
  const runs = Array.from({ length: ROUNDS }, () => run(text));
  const cells = [
    name,
    text.length.toLocaleString('en'),
    spread(
      runs.map(({ ms }) => ms),
      1,
    ),
    runs[0]?.result,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

function run(text: string): { readonly ms: number; readonly result: string } {
  const before = process.threadCpuUsage();
  const result = resultOf(text);
  const { user, system } = process.threadCpuUsage(before);
  return { ms: (user + system) / 1_000, result };
}

function resultOf(text: string): string {
  try {
    parseYaml(text);
    return 'read';
  } catch (error) {
    if (error instanceof YamlError) return 'refused';
    throw error;
  }
}
