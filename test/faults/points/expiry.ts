import { setTimeout as after } from 'node:timers/promises';
import type { Rule } from '../oracle.ts';
import { withPolicy } from '../oracle.ts';
import type { World } from '../world.ts';
import { call, ruleOf, specOf, type Write } from '../writes.ts';

const TTL = '1s';
const AT_ONCE = 4;
const BEFORE_MS = 60;
const SPAN_MS = 250;

/** As policies end by themselves, which each of them does once, while the control plane runs or is down. */
export async function killInExpiry(world: World): Promise<void> {
  let last = 0;
  for (let count = 0; count < AT_ONCE; count += 1) {
    const brief = briefPolicy(world);
    const answer = await world.main.write(world.place, brief);
    if (answer === undefined) throw new Error(`A policy with an end was refused: ${world.main.refused}`);
    last = Date.parse(answer.body.spec.expiresAt);
  }
  await after(Math.max(0, last - BEFORE_MS - Date.now()));
  await world.killDuring('expiry', async () => undefined, SPAN_MS);
}

function briefPolicy({ random }: World): Write {
  const [name, rule] = [`brief-${random.below(1e9)}`, ruleOf(random)];
  let kept: Rule = rule;
  return {
    changes: [['created', 'MeshPolicy', name]],
    async send(place) {
      const answer = await call(place, 'POST', '/policies', { name, spec: specOf(rule), ttl: TTL });
      if (answer.status === 201) kept = { ...rule, expiresAt: Date.parse(answer.body.spec.expiresAt) };
      return answer;
    },
    apply: (network) => withPolicy(network, name, kept),
  };
}
