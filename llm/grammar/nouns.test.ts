import { describe, expect, it } from 'vitest';
import { peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const NOUNS = 'app,server,device,machine,node,host,service,system,team,peer,instance,computer,group,fleet'.split(',');
const closed = policy('base', { action: 'DENY', peerSelector: {} });
const plan = (intent: string, noun?: string) =>
  planByGrammar({
    intent,
    state: stateWith(
      peer('x-1', { uid: 'p_x', labels: { site: 'lyon', ...(noun && { role: noun }) } }),
      peer('y-1', { uid: 'p_y', labels: { site: 'lyon' } }),
      peer('z-1', { uid: 'p_z', labels: { kind: 'target' } }),
      closed,
    ),
    now: NOW,
  });

describe.each(NOUNS)('the noun "%s"', (noun) => {
  it.each([`the ${noun}s in lyon`, `lyon ${noun}s`])('counts where a label has that value: "%s"', (who) => {
    expect(plan(`${who} may reach z-1 on 443`, noun)).toMatchObject({
      outcome: 'changes',
      summary: expect.stringContaining(`role=${noun}`),
    });
    expect(plan(`${who} may reach z-1 on 443`)).toMatchObject({ summary: 'Let site=lyon reach z-1 on TCP 443.' });
  });
});

it.each(['node', 'device', 'host', 'machine', 'peer'])(
  '"all %ss" and "no %s" are asked about where some are labelled so',
  (noun) => {
    for (const intent of [`all ${noun}s may reach z-1`, `no ${noun} may reach z-1`]) {
      expect(plan(intent)).toMatchObject({ outcome: 'changes' });
      expect(plan(intent, noun)).toMatchObject({ outcome: 'refused' });
    }
  },
);

it('"and nobody else" and "only" close the port that is named, and say so', () => {
  const readings = ['only x-1 may reach z-1 on 443', 'let x-1 reach z-1 on 443 and nobody else'].map((intent) =>
    plan(intent),
  );
  const [only, nobody] = readings;
  expect(only).toMatchObject({ summary: 'Let only x-1 reach z-1 on TCP 443; on other ports nothing changes.' });
  expect(nobody).toEqual(only);
});
