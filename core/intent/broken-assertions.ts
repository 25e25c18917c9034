import { MeshError } from '../errors.ts';
import type { NetworkState } from '../network/state.ts';
import { type Assertion, assertionSchema, checkAssertions } from '../reachability/assertions.ts';
import type { Services } from '../services.ts';

/** A standing assertion of the workspace, by its name. */
export type BrokenAssertion = Assertion & { readonly name: string };

/** The assertions that hold before a change and would not after it. */
export async function brokenAssertions(
  { store, states, clock }: Pick<Services, 'store' | 'states' | 'clock'>,
  before: NetworkState,
  after: NetworkState,
): Promise<BrokenAssertion[]> {
  const { items } = await store.list(before.workspace, 'PolicyAssertion');
  if (items.length === 0) return [];
  const now = clock.now();
  const [was, is] = [states.reachability(before, now), states.reachability(after, now)];
  return items.flatMap(({ name, spec }) => {
    const parsed = assertionSchema.safeParse(spec);
    if (!parsed.success) return [];
    const holds = (reach: typeof was) => checkAssertions(reach, [parsed.data]).every(({ pass }) => pass);
    return holds(was) && !holds(is) ? [{ name, ...parsed.data }] : [];
  });
}

/** @throws MeshError `policy_assertion_failed` naming each assertion that the change would break. */
export function requireAssertions(broken: readonly BrokenAssertion[]): void {
  if (broken.length === 0) return;
  throw new MeshError(
    'policy_assertion_failed',
    `The change would break: ${broken.map(({ name }) => name).join(', ')}.`,
    { failures: broken },
  );
}
