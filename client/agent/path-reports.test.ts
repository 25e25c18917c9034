import { expect, test } from 'vitest';
import type { PathStatus } from '../paths/status.ts';
import { PathReports } from './path-reports.ts';

const status = (peerId: string, since = 0): PathStatus => ({
  peerId,
  transport: 'lrp-ready',
  path: 'relayed',
  endpoint: null,
  relay: null,
  reason: { code: 'no-candidates', detail: '' },
  since,
  hasSession: false,
  silentMs: null,
  roundTripMs: null,
});
const ids = ({ paths }: ReturnType<PathReports['next']>) => paths.map(({ peer }) => peer);

test('what arrived is not told again until it changes', () => {
  const reports = new PathReports();
  const first = reports.next([status('a'), status('b')], false);
  expect(first.paths[0]).toEqual({
    peer: 'a',
    transport: 'lrp-ready',
    path: 'relayed',
    reason: 'no-candidates',
    since: '1970-01-01T00:00:00.000Z',
  });
  expect(ids(reports.next([status('a'), status('b')], false))).toEqual(['a', 'b']);
  first.taken();
  expect(ids(reports.next([status('a'), status('b', 5)], false))).toEqual(['b']);
  expect(ids(reports.next([status('a'), status('b')], true))).toEqual(['a', 'b']);
});

test('more than fit one heartbeat come with the next ones', () => {
  const reports = new PathReports();
  const all = Array.from({ length: 600 }, (_, index) => status(`p${index}`));
  const counts = [0, 1, 2, 3].map(() => {
    const report = reports.next(all, false);
    report.taken();
    return report.paths.length;
  });
  expect(counts).toEqual([256, 256, 88, 0]);
});
