import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { formatInstant } from '../base/time.ts';

const ROLES = ['web', 'db', 'app'];
const PEERS = ROLES.map((role) => `${role}-1`);
const role = fc.constantFrom(...ROLES);
const selector = role.map((name) => ({ matchLabels: { role: name } }));
const spec = fc.record({
  action: fc.constantFrom('ALLOW', 'DENY'),
  peerSelector: selector,
  ingress: fc.array(fc.record({ from: selector.map((peerSelector) => [{ peerSelector }]) }), { maxLength: 2 }),
});
const step = fc.record({ name: fc.constantFrom('a', 'b', 'c'), spec: fc.option(spec), snapshot: fc.boolean() });

test('what is answered of a past instant is what was answered then', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      await using kit = await buildHistoryKit();
      for (const name of ROLES) await kit.join(`${name}-1`, { role: name });
      const ask = (tool: string, extra = {}) =>
        Promise.all(
          PEERS.flatMap((src) => PEERS.map((dst) => kit.ask(tool, { src, dst, protocol: 'TCP', port: 80, ...extra }))),
        );
      const told: { at: string; answers: unknown[] }[] = [];
      for (const { name, spec: written, snapshot } of steps) {
        kit.clock.time += 1_000;
        const { policies } = await kit.services.states.current(kit.workspace);
        const exists = policies.has(name);
        if (written === null) {
          if (exists) await kit.ask('delete_policy', { id: name });
        } else if (exists) await kit.ask('update_policy', { id: name, spec: written });
        else await kit.ask('create_policy', { name, spec: written });
        if (snapshot) await kit.ask('take_snapshot');
        const answers = (await ask('check_connectivity')).map(decision);
        told.push({ at: formatInstant(kit.clock.time), answers });
      }
      kit.clock.time += 1_000;
      for (const { at, answers } of told) {
        expect((await ask('check_connectivity_at', { at })).map(decision)).toEqual(answers);
      }
    }),
    { numRuns: 20 },
  );
}, 60_000);

/** What was decided and since when; until when is known only later. */
function decision({ verdict, presence, steps, allowed, blocked_by, valid_from }: Record<string, unknown>) {
  return { verdict, presence, steps, allowed, blocked_by, valid_from };
}
