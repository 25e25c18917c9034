import { describe, expect, it } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import { spansOf, spanText } from '../../core/effect/port-spans.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { network, peer, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const stateOf = (defaultAction: 'ALLOW' | 'DENY') =>
  stateWith(
    network('default', { defaultAction }),
    ...['laptop', 'db-1', 'ci-1'].map((name, at) => peer(name, { uid: `p_${name}`, address: `10.96.0.${at + 1}` })),
  );
const [OPEN, CLOSED] = [stateOf('ALLOW'), stateOf('DENY')];

/** The ports of `db-1` that `laptop` may reach once it is done; `asked` where it is asked about. */
function portsAfter(intent: string, state: NetworkState): string {
  const answer = planByGrammar({ intent, state, now: NOW });
  if (answer.outcome !== 'changes') return 'asked';
  const { after } = planChanges(state, answer.changes, NOW);
  return spanText(spansOf(compile(modelOf(after, NOW)).allowed('laptop', 'db-1')));
}

const ALL_BUT_443 = 'TCP 1-442, TCP 444-65535, all UDP, all SCTP, ICMP';
const IT = ['', 'it is ', "it's ", 'that is ', 'the traffic is ', 'this goes '];

describe('a condition that names a port alone', () => {
  it.each(['unless', 'except when', 'except if'].flatMap((word) => IT.map((it_) => `${word} ${it_}`)))(
    'leaves it out: "%son 443"',
    (lead) => {
      for (const on of ['on 443', 'on port 443', 'over https']) {
        expect(portsAfter(`let laptop reach db-1 ${lead}${on}`, OPEN)).toBe(ALL_BUT_443);
        expect(portsAfter(`let laptop reach db-1 ${lead}${on}`, CLOSED)).toBe(ALL_BUT_443);
        expect(portsAfter(`block laptop from db-1 ${lead}${on}`, OPEN)).toBe('TCP 443');
      }
    },
  );

  it.each(['if', 'when', 'in case'].flatMap((word) => IT.slice(1).map((it_) => `${word} ${it_}`)))(
    'is what is opened or closed: "%son 443"',
    (lead) => {
      expect(portsAfter(`let laptop reach db-1 ${lead}on 443`, CLOSED)).toBe('TCP 443');
      expect(portsAfter(`block laptop from db-1 ${lead}over https`, OPEN)).toBe(ALL_BUT_443);
    },
  );

  it.each(['only if', 'only when', 'as long as', 'provided', 'provided that'])(
    'is offered as a limit, and never as more: %s',
    (word) => {
      const intent = `let laptop reach db-1 ${word} it's over 443`;
      const answer = planByGrammar({ intent, state: OPEN, now: NOW });
      const choices = answer.outcome === 'refused' ? answer.choices : [];
      expect(choices).toContain("limit laptop's access to db-1 to 443/tcp");
    },
  );

  it.each([
    'let laptop reach db-1 unless ci-1 is on 443',
    'let laptop reach db-1 if ci-1 reaches it on 443',
    'let laptop reach db-1 on 22 if it rains',
    'let laptop reach db-1 once it is on 443',
    'let laptop reach db-1 if ssh',
    'let laptop reach db-1 if on 443',
  ])('is none where more than the port is said: %s', (intent) => {
    expect(portsAfter(intent, CLOSED)).toBe('asked');
  });
});

describe('an end and a port', () => {
  it.each(['until friday at 18', 'until friday 18h', 'until tomorrow at 22', 'until 18:00 on friday'])(
    'are told apart: the number in "%s" is no port',
    (end) => {
      expect(portsAfter(`let laptop reach db-1 ${end}`, CLOSED)).toBe('everything');
      expect(portsAfter(`let laptop reach db-1 on 5432 ${end}`, CLOSED)).toBe('TCP 5432');
    },
  );
});

describe('a protocol but for some of its ports', () => {
  it.each<[string, string, string]>([
    ['udp except 53', 'UDP 1-52, UDP 54-65535', 'all TCP, UDP 53, all SCTP, ICMP'],
    ['udp except dns', 'UDP 1-52, UDP 54-65535', 'all TCP, UDP 53, all SCTP, ICMP'],
    ['tcp but not 22 and 443', 'TCP 1-21, TCP 23-442, TCP 444-65535', 'TCP 22, TCP 443, all UDP, all SCTP, ICMP'],
  ])('is open, closed, and held for some alone: %s', (ports, open, left) => {
    for (const text of [`let laptop reach db-1 on ${ports}`, `only laptop may reach db-1 on ${ports}`])
      expect(portsAfter(text, CLOSED), text).toBe(open);
    expect(portsAfter(`block laptop from db-1 on ${ports}`, OPEN)).toBe(left);
    expect(portsAfter(`only ci-1 may reach db-1 on ${ports}`, OPEN)).toBe(left);
  });
});
