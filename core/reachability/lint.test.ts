import { describe, expect, test } from 'vitest';
import type { PolicySpec } from '../model/policy.ts';
import { compile } from './engine.ts';
import { lint } from './lint.ts';
import { NOW } from './models.testkit.ts';

const selector = (role: string) => ({ peerSelector: { matchLabels: { role } } });

function warningsOf(...specs: unknown[]): string[] {
  const reach = compile({
    networks: [{ name: 'n', cidr: '10.96.0.0/24', defaultAction: 'ALLOW' }],
    peers: ['web', 'db', 'job'].map((role) => ({ name: role, labels: { role }, network: 'n' })),
    policies: specs.map((spec, i) => ({ name: `pol${i}`, spec })),
    now: NOW,
  });
  return lint(reach).map(({ code, policy, direction, rule_index }) =>
    [code, policy, direction, rule_index].join(' ').trim(),
  );
}

describe('lint', () => {
  test('has nothing to say about a base with an opening', () => {
    const open: PolicySpec = {
      action: 'ALLOW',
      ...selector('db'),
      ingress: [{ from: [selector('web')], ports: [{ port: 5432 }] }],
    };
    expect(warningsOf({ action: 'DENY' }, open)).toEqual([]);
  });

  const from = (role: string, expiresAt?: string) => ({
    action: 'ALLOW',
    ...selector('db'),
    ingress: [{ from: [selector(role)] }],
    ...(expiresAt !== undefined && { expiresAt }),
  });
  const all = (action: string, expiresAt?: string) => ({ ...from('web', expiresAt), action, peerSelector: {} });
  const [SOON, LATER] = ['2026-01-01T00:01:30Z', '2026-02-01T00:00:00Z'];

  test.each<[string, unknown[], string[]]>([
    ['no rule that outlives the ALLOW that has it', [from('web'), all('ALLOW', SOON)], []],
    ['no rule that outlives the ALLOW that has it by a while', [from('web', LATER), all('ALLOW', SOON)], []],
    [
      'a rule that ends before the ALLOW that has it, or with it',
      [from('web', SOON), all('ALLOW', SOON), from('web', SOON), all('ALLOW')],
      ['RULE_IS_SHADOWED pol0 ingress 0', 'RULE_IS_SHADOWED pol1 ingress 0', 'RULE_IS_SHADOWED pol2 ingress 0'],
    ],
    [
      'a rule that outlives the DENY that undoes it as one that has an exception',
      [from('web'), all('DENY', SOON)],
      ['RULE_IS_CONTRADICTED pol0 ingress 0'],
    ],
    [
      'a rule that ends before the DENY that undoes it',
      [from('web', SOON), all('DENY')],
      ['RULE_IS_DENIED pol0 ingress 0'],
    ],
    [
      'a rule of which a DENY takes a part',
      [
        { action: 'ALLOW', ...selector('db'), ingress: [{ from: [selector('web'), selector('job')] }] },
        { action: 'DENY', ...selector('db'), ingress: [{ from: [selector('job')], ports: [{ port: 22 }] }] },
      ],
      ['RULE_IS_CONTRADICTED pol0 ingress 0'],
    ],
    [
      'a rule for addresses of which a DENY takes a part, and one that another has wholly',
      [
        { action: 'ALLOW', ...selector('db'), ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }] },
        { action: 'ALLOW', ...selector('db'), ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.0/25' } }] }] },
        { action: 'DENY', ...selector('db'), ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.128/25' } }] }] },
      ],
      ['RULE_IS_CONTRADICTED pol0 ingress 0', 'RULE_IS_SHADOWED pol1 ingress 0'],
    ],
    [
      'a DENY rule that another DENY has wholly',
      [
        { action: 'DENY', ...selector('db'), ingress: [{ from: [selector('job')] }] },
        { action: 'DENY', ...selector('db'), ingress: [{ from: [selector('job')], ports: [{ port: 22 }] }] },
      ],
      ['RULE_IS_SHADOWED pol1 ingress 0'],
    ],
    ['a policy whose time is over', [{ action: 'DENY', expiresAt: '2025-12-31T00:00:00Z' }], ['POLICY_HAS_ENDED pol0']],
    ['a policy of an unknown shape', [{ action: 'ALLOW', tier: 1 }], ['UNREADABLE_POLICY pol0']],
    ['a selector without peers', [{ action: 'DENY', ...selector('gone') }], ['SELECTS_NO_PEER pol0']],
    ['an ALLOW without directions', [{ action: 'ALLOW' }], ['ISOLATES_BOTH_WAYS pol0']],
    [
      'anyone to every peer',
      [{ action: 'ALLOW', ingress: [{ ports: [{ port: 22 }] }] }],
      ['ANY_TO_ANY pol0 ingress 0'],
    ],
    ['a DENY that nothing can override', [{ action: 'DENY', egress: [{}] }], ['DENY_MATCHES_EVERYTHING pol0 egress 0']],
    [
      'a block that holds the overlay',
      [{ action: 'ALLOW', ...selector('db'), ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }] }],
      ['CIDR_COVERS_OVERLAY pol0 ingress 0'],
    ],
    [
      'a block that leaves the overlay out',
      [
        {
          action: 'ALLOW',
          ...selector('db'),
          ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.96.0.0/16'] } }] }],
        },
      ],
      [],
    ],
    [
      'a rule for peers that are not there',
      [{ action: 'ALLOW', ...selector('db'), ingress: [{ from: [selector('gone')] }] }],
      ['RULE_MATCHES_NO_ONE pol0 ingress 0'],
    ],
    [
      'a rule that a DENY undoes',
      [
        { action: 'ALLOW', ...selector('db'), ingress: [{ from: [selector('web')] }, { from: [selector('job')] }] },
        { action: 'DENY', ...selector('db'), ingress: [{ from: [selector('job')] }] },
      ],
      ['RULE_IS_DENIED pol0 ingress 1'],
    ],
    [
      'a rule that two others already allow',
      [
        {
          action: 'ALLOW',
          ...selector('db'),
          ingress: [{ from: [selector('web')], ports: [{ port: 80, endPort: 90 }] }],
        },
        { action: 'ALLOW', ...selector('db'), ingress: [{ ports: [{ port: 80, endPort: 85 }] }] },
        { action: 'ALLOW', ...selector('db'), ingress: [{ ports: [{ port: 86, endPort: 99 }] }] },
      ],
      ['RULE_IS_SHADOWED pol0 ingress 0'],
    ],
  ])('names %s', (_, specs, expected) => {
    expect(warningsOf(...specs)).toEqual(expected);
  });
});
