import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NOW } from '../../core/reachability/models.testkit.ts';
import { natlab } from '../../test/kits/lab/natlab.ts';
import type { Heard } from '../../test/kits/lab/natlab-packets.ts';
import { type LabParts, labParts } from '../../test/kits/lab/natlab-parts.ts';
import { describePrivileged, isLong } from '../../test/kits/lab/privileged.ts';
import { addressOf, CIDR, HOSTS, model, NOTHING, type Probe, ports, probesOf, rulesOf } from './verdicts.testkit.ts';

const POLICY_SETS = isLong ? 200 : 20;
/** Answers on this link come within some milliseconds; on a busy machine what should have answered is asked again. */
const [TIMEOUT_MS, PATIENT_TIMEOUT_MS] = [300, 5_000];

async function heardBy(
  nodes: ReadonlyMap<string, LabParts>,
  probes: readonly Probe[],
  timeoutMs: number,
): Promise<Map<Probe, Heard>> {
  const heard = new Map<Probe, Heard>();
  const all = [...nodes].map(async ([src, node]) => {
    const own = probes.filter((one) => one.src === src);
    const answers = await node.probe(own, timeoutMs);
    for (const [index, one] of own.entries()) heard.set(one, answers[index] ?? 'silent');
  });
  await Promise.all(all);
  return heard;
}

describePrivileged('the rules of compiled graphs', () => {
  it(
    'let through exactly what the engine says, for TCP, UDP and ICMP between hosts',
    async () => {
      await using lab = await natlab({ hosts: Object.fromEntries(HOSTS.map((name) => [name, {}])) });
      const nodes = new Map(HOSTS.map((name) => [name, labParts(lab.host(name), 'eth0')]));
      for (const [name, node] of nodes) {
        await lab.host(name).must('ip', ['address', 'add', `${addressOf(name)}/24`, 'dev', 'eth0']);
        await node.serve(ports);
      }
      const counts = { allowed: 0, denied: 0 };
      for (const sample of fc.sample(model, POLICY_SETS)) {
        const { reachability, rules } = rulesOf(sample);
        const own = (name: string) => ({ address: addressOf(name), cidr: CIDR });
        await Promise.all([...nodes].map(([name, node]) => node.apply(rules.get(name) ?? NOTHING, NOW, own(name))));
        const probes = probesOf(reachability);
        const heard = await heardBy(nodes, probes, TIMEOUT_MS);
        const late = probes.filter((one) => one.isAllowed && heard.get(one) !== 'open');
        for (const [one, answer] of await heardBy(nodes, late, PATIENT_TIMEOUT_MS)) heard.set(one, answer);
        const wrong = probes.filter((one) => (heard.get(one) === 'open') !== one.isAllowed);
        expect({ wrong, sample: wrong.length > 0 ? sample : undefined }).toEqual({ wrong: [], sample: undefined });
        counts.allowed += probes.filter(({ isAllowed }) => isAllowed).length;
        counts.denied += probes.filter(({ isAllowed }) => !isAllowed).length;
      }
      expect(Math.min(counts.allowed, counts.denied)).toBeGreaterThan(20 * POLICY_SETS);
    },
    isLong ? 900_000 : 120_000,
  );
});
