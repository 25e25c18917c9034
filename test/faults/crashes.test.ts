import { expect, test } from 'vitest';
import { campaign, total } from './campaign.ts';

const isLong = process.env['MESH_LONG'] === '1';
const SEED = Number(process.env['MESH_TEST_SEED'] ?? 20_261_126);
const SIZE = isLong ? { kills: 500, times: 6, roundsInWorld: 2 } : { kills: 1, times: 1, roundsInWorld: 1 };
/** Control planes that are killed side by side. */
const LANES = isLong ? 2 : 1;
const PATIENCE_MS = isLong ? 12 * 3_600_000 : 600_000;
/** One in each kind of crash point at least. */
const POINTS = [
  'approval of a workflow',
  'backup',
  'commit',
  'compaction',
  'deletion of an account',
  'expiry',
  'migration',
  'start',
  'workspace creation',
];

test('a control plane that is killed at every crash point has lost nothing, does nothing by half and nothing twice', {
  timeout: PATIENCE_MS,
}, async () => {
  const log = (line: string) => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
  const lanes = Array.from({ length: LANES }, (_, lane) => campaign({ ...SIZE, seed: SEED + lane, log }));
  for (const { kills, findings, ...counts } of await Promise.all(lanes)) {
    log(JSON.stringify({ kills: Object.fromEntries(kills), ...counts }));
    expect(findings).toEqual([]);
    expect([...kills.keys()].toSorted()).toEqual(POINTS);
    expect(total(kills)).toBeGreaterThanOrEqual(SIZE.kills);
  }
});
