import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Requirement, requirements } from './requirements.ts';

/** Run as `node test/unshown-requirements.ts <folder>`: fails when no passed test of any tier showed a rule in force. */
const [folder = ''] = process.argv.slice(2);
const records = globSync('*.json', { cwd: folder }).map((file): object =>
  JSON.parse(readFileSync(path.join(folder, file), 'utf8')),
);
const shown = new Set(records.flatMap((record) => Object.keys(record)));
const rules: readonly (readonly [string, Requirement])[] = Object.entries(requirements);
const unshown = rules.filter(([id, { open }]) => open === undefined && !shown.has(id));
if (unshown.length > 0) {
  const lines = unshown.map(([id, { rule }]) => `${id}: ${rule}`);
  process.stderr.write(`No test that passed shows these requirements:\n${lines.join('\n')}\n`);
  process.exitCode = 1;
}
