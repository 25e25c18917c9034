import { expect, it } from 'vitest';
import { network, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { futureOf } from '../../authority/future.ts';
import { planChanges } from '../../changes/changes.ts';
import { effectOf } from '../../effect/effect.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { joiningTexts } from './joining.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const STATE = stateWith(
  network('default', { defaultAction: 'DENY' }),
  peer('web-1', { labels: { role: 'web', env: 'prod' }, address: '10.96.0.1' }),
  peer('web-2', { labels: { role: 'web' }, address: '10.96.0.2' }),
  peer('ci-1', { labels: { role: 'ci', env: 'prod' }, address: '10.96.0.3' }),
  policy('out', { action: 'ALLOW', peerSelector: {}, egress: [{}] }),
);
const reachability = (state: NetworkState) => compile(modelOf(state, NOW));

/** Says what opens for devices that join later with these labels. */
function told(ingress: NonNullable<PolicySpec['ingress']>, ...labels: Record<string, string>[]) {
  const spec: PolicySpec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'web' } }, ingress };
  const { after } = planChanges(STATE, [{ action: 'create', resource: 'MeshPolicy', name: 'x', spec }], NOW);
  const [was, is] = [reachability(STATE), reachability(after)];
  const whole = { before: STATE, after, was, is, effect: effectOf(was, is), now: NOW };
  const joins = labels.map((own) => ({ labels: own, network: 'default' }));
  return joiningTexts(futureOf(whole, { joins, isPersons: true }, { reachability }), 'opened', []);
}

const ports = [{ port: 443 }];
const fromLabelled = (key: string, value: string) => ({
  from: [{ peerSelector: { matchLabels: { [key]: value } } }],
  ports,
});

it('a later device that reaches others who join later is told with them', () => {
  expect(told([fromLabelled('env', 'prod')], { role: 'web', env: 'prod' })).toEqual([
    'every device that joins later with role=web, env=prod reaches web-1 and other devices that join later on TCP 443',
    'every device that joins later with role=web, env=prod reaches web-2 on TCP 443',
    'ci-1 reaches every device that joins later with role=web, env=prod on TCP 443',
  ]);
});

it('kinds of devices that are not named are counted', () => {
  const rules = [fromLabelled('role', 'ci'), fromLabelled('env', 'prod')];
  const kinds = [{ role: 'ci' }, { env: 'prod' }];
  const texts = told(rules, ...kinds);
  expect(texts).toHaveLength(4);
  expect(texts.at(-1)).toMatch(/^and so for \d+ more$/);
});

it('a block that begins a network lets no device in by the address of the network itself', () => {
  const inside = (cidr: string) => told([{ from: [{ ipBlock: { cidr } }], ports }]);
  expect(inside('10.96.0.0/32')).toEqual([]);
  expect(inside('10.96.0.0/24')).toEqual([
    'a device that joins later at 10.96.0.4 reaches web-1 and 1 more on TCP 443',
  ]);
});
