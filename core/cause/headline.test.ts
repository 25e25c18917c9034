import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Flip } from '../history/pair/flips.ts';
import type { Reading } from '../history/pair/readings.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import { closes, headlineOf, opens } from './headline.ts';

/** Ports 1 to 4 of TCP, or all. */
type Open = ReadonlySet<number> | 'ALL';
interface State {
  readonly open: Open;
  readonly online: boolean;
}

function allowedOf(open: Open): AllowedPorts {
  return open === 'ALL' ? 'ALL' : [...open].sort().map((port) => ({ protocol: 'TCP', from: port, to: port }));
}

function readingOf({ open, online }: State): Reading {
  const verdict = open === 'ALL' ? 'reachable' : open.size > 0 ? 'partial' : 'unreachable';
  return { verdict, allowed: allowedOf(open), usable: online && verdict !== 'unreachable' } as Reading;
}

/** What differs from one state to the next, as flips are. */
function flipsOf(states: readonly State[]): Flip[] {
  return states.slice(1).flatMap((after, at): Flip[] => {
    const [before, now] = [readingOf(states[at] ?? after), readingOf(after)];
    const isSame = JSON.stringify(before) === JSON.stringify(now);
    const moment = (reading: Reading) => ({ at, revision: at, changes: [], reading });
    return isSame ? [] : [{ before: moment(before), after: moment(now), causes: [] } as unknown as Flip];
  });
}

const states = fc.array(
  fc.record({
    open: fc.oneof(
      fc.constant('ALL' as const),
      fc.subarray([1, 2, 3, 4]).map((ports) => new Set(ports)),
    ),
    online: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
);
const ports = (open: Open) => (open === 'ALL' ? new Set([1, 2, 3, 4, 5]) : open);
const nobody = () => false;

test('what led to how a connection is left it with the ports that it has', () => {
  fc.assert(
    fc.property(states, (all) => {
      const flips = flipsOf(all);
      const headline = headlineOf(flips, undefined, nobody);
      expect(headline === undefined).toBe(flips.length === 0);
      if (headline) expect(headline.after.reading.allowed).toEqual(flips.at(-1)?.after.reading.allowed);
    }),
  );
});

test('a flip opens where a port is gained, and closes where one is lost; presence counts where no port changes', () => {
  fc.assert(
    fc.property(states, (all) => {
      for (const [at, after] of all.entries()) {
        const before = all[at - 1] ?? after;
        const [flip] = flipsOf([before, after]);
        if (!flip) continue;
        const [was, is] = [ports(before.open), ports(after.open)];
        const isPresence = was.symmetricDifference(is).size === 0;
        const came = isPresence && !before.online && after.online;
        const went = isPresence && before.online && !after.online;
        expect([opens(flip), closes(flip)]).toEqual([came || !is.isSubsetOf(was), went || !was.isSubsetOf(is)]);
      }
    }),
  );
});

test('asked who opened it, the last or first opening of ports leads; asked who closed what is closed, its closing', () => {
  fc.assert(
    fc.property(states, fc.boolean(), (all, isFirst) => {
      const flips = flipsOf(all);
      const isPorts = ({ before, after }: Flip) =>
        JSON.stringify(before.reading.allowed) !== JSON.stringify(after.reading.allowed);
      const openings = flips.filter((flip) => opens(flip) && isPorts(flip));
      const opened = headlineOf(flips, { change: 'opened', isFirst }, nobody);
      if (openings.length > 0) expect(opened).toBe(openings.at(isFirst ? 0 : -1));
      else expect(opened === undefined || opens(opened)).toBe(true);
      const closed = headlineOf(flips, { change: 'closed' }, nobody);
      expect(closed === undefined || closes(closed)).toBe(true);
      const last = flips.at(-1);
      if (last?.after.reading.verdict === 'unreachable') expect(closed).toBe(last);
    }),
  );
});
