import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { recordsOf } from '../kits/http/harness.ts';
import { person } from '../kits/plane/kit.ts';
import { outageHistory } from '../kits/plane/outage-history.ts';

const isLong = process.env['MESH_LONG'] === '1';
const SIZE = isLong
  ? { commits: 50_000, peers: 500, policies: 200, flaps: 10_000 }
  : { commits: 1_200, peers: 60, policies: 30, flaps: 300 };
const PATIENCE_MS = isLong ? 1_200_000 : 120_000;
const PAGE = 50;

interface Finding {
  readonly rank: number;
  readonly at: string;
  readonly connections: { readonly count: number };
  readonly causes: readonly { readonly cause: string; readonly name: string }[];
}

test(
  `thirty questions about ${SIZE.commits} commits in 90 days are answered as their generator knows`,
  async () => {
    const records = recordsOf('outage');
    const { kit, workspace, began, end, outages } = await outageHistory({ ...SIZE, ...(records && { path: records }) });
    await using _ = kit;
    const asked = { as: person('viewer', workspace), workspace };
    const range = { from: formatInstant(began), to: formatInstant(end) };
    expect(outages).toHaveLength(30);
    for (const { question, flips, end: last, connections, leading = flips.length - 1 } of outages) {
      // What is asked for comes first; the others follow from the newest to the oldest.
      const order = [...flips.slice(leading, leading + 1), ...flips.toSpliced(leading, 1).toReversed()];
      const first = await kit.call('find_cause', { question, ...range, limit: PAGE }, asked);
      const told = {
        question,
        count: first.finding_count,
        end: first.was.end.verdict,
        connections: first.asked.connections,
      };
      expect(told).toEqual({ question, count: flips.length, end: last, connections });
      const pages = await pagesOf(first, (cursor) =>
        kit.call('find_cause', { question, ...range, limit: PAGE, cursor }, asked),
      );
      for (const { rank, at, causes } of pages) {
        const known = order[rank - 1];
        if (question.includes('lose') && flips.length > 1)
          expect([question, rank, causes[0]?.cause]).toEqual([question, rank, 'presence']);
        else
          expect([question, at, causes[0]]).toMatchObject([
            question,
            formatInstant(known?.at ?? 0),
            { cause: known?.cause, name: known?.name },
          ]);
      }
      if (connections > 1) expect(first.findings[0].connections.count).toBe(connections);
    }
  },
  PATIENCE_MS,
);

/** The findings of the first, a middle and the last page; every page has others. */
async function pagesOf(
  first: { readonly findings: readonly Finding[]; readonly finding_count: number; readonly next_cursor?: string },
  next: (cursor: string) => Promise<typeof first>,
): Promise<Finding[]> {
  const { findings, finding_count: count, next_cursor: cursor } = first;
  if (cursor === undefined) return [...findings];
  const at = (index: number) => cursor.replace(/\d+$/, String(index));
  const middle = await next(at(Math.floor(count / 2 / PAGE) * PAGE));
  const last = await next(at(Math.floor((count - 1) / PAGE) * PAGE));
  expect([last.next_cursor, last.findings.at(-1)?.rank, middle.next_cursor === undefined]).toEqual([
    undefined,
    count,
    false,
  ]);
  return [...findings, ...middle.findings, ...last.findings];
}
