import { z } from 'zod';
import { PLAINLY } from '../base/schema-errors.ts';
import { type AssertionResult, assertionSchema, checkAssertions } from './assertions.ts';
import { compileDivided } from './divided-network.ts';
import { simulatedModel, simulateInputSchema } from './simulate.ts';

/** The assertions to check, beside a network as `connectivity/simulate` takes it. */
const expectations = z.looseObject({ assertions: z.array(assertionSchema).min(1) });

/**
 * Checks the assertions of a document over its own network, peers and policies (docs/policy.md#testing-policies-without-a-server).
 *
 * @param now milliseconds since the epoch
 * @throws ZodError for a document that does not fit; MeshError `payload_too_large`
 */
export function testPolicies(document: unknown, now: number): AssertionResult[] {
  const { assertions, ...network } = expectations.parse(document, PLAINLY);
  const simulated = simulateInputSchema.parse(network, PLAINLY);
  return checkAssertions(compileDivided(simulatedModel(simulated, now)), assertions);
}
