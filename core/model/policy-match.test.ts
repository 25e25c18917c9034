import { describe, expect, it } from 'vitest';
import { policySpecSchema } from './policy.ts';
import { rulesOf } from './policy-match.ts';

describe('the rules of a policy', () => {
  it('tell an absent direction from an empty one, and are none both ways where neither is named', () => {
    const spec = policySpecSchema.parse({ action: 'ALLOW', ingress: [{ from: ['*'] }] });
    expect([rulesOf(spec, 'ingress'), rulesOf(spec, 'egress')]).toEqual([
      [{ direction: 'ingress', peers: ['*'], ports: [] }],
      undefined,
    ]);
    expect(rulesOf({ ...spec, egress: [] }, 'egress')).toEqual([]);
    expect(rulesOf({ action: 'DENY' }, 'egress')).toEqual([]);
  });
});
