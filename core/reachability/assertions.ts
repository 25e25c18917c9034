import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { protocolSchema } from '../model/policy.ts';
import type { DividedNetwork } from './divided-network.ts';
import { type Verdict, withProtocol } from './explanation.ts';
import type { ReasonCode } from './reasons.ts';

/** An expectation about a network, which people keep and every change is checked against. */
export const assertionSchema = z
  .strictObject({
    src: lineOfText(TEXT_LIMITS.hostname).min(1),
    dst: lineOfText(TEXT_LIMITS.hostname).min(1),
    protocol: protocolSchema.optional(),
    port: z.int().min(1).max(65_535).optional(),
    expect: z.enum(['allow', 'deny'], { error: 'expect is allow or deny' }),
  })
  .refine(({ protocol, port }) => protocol !== 'ICMP' || port === undefined, {
    error: 'ICMP has no ports',
    path: ['port'],
  });
export type Assertion = z.output<typeof assertionSchema>;

export interface AssertionResult extends Assertion {
  readonly pass: boolean;
  readonly verdict: Verdict;
  /** The deciding reason, policy and rule, where the connection is not wholly allowed. */
  readonly reason_code: ReasonCode | null;
  readonly policy: string | null;
  readonly rule_index: number | null;
}

/**
 * Checks each assertion. `allow` needs everything asked for to be allowed, `deny` needs nothing of it to be; without
 * `protocol` and `port` that is everything. One about an unknown name always fails, so that a misspelt `deny` is seen.
 */
export function checkAssertions(
  network: Pick<DividedNetwork, 'explain'>,
  assertions: readonly Assertion[],
): AssertionResult[] {
  return assertions.map((assertion) => {
    const { verdict, blocked_by } = network.explain(withProtocol(assertion));
    const [blocker] = blocked_by;
    const known = blocker?.reason_code !== 'PEER_NOT_FOUND';
    return {
      ...assertion,
      pass: known && verdict === (assertion.expect === 'allow' ? 'reachable' : 'unreachable'),
      verdict,
      reason_code: blocker?.reason_code ?? null,
      policy: blocker?.policy ?? null,
      rule_index: blocker?.rule_index ?? null,
    };
  });
}
